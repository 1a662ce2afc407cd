#pragma once

#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_wait.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace winnow::evaluators::gpu {

/// A device's time and the cycles of one of its multiprocessors at the same moment; 0: not known.
struct ClockStamp {
  std::uint64_t ns = 0;
  std::uint64_t cycles = 0;
};

/// The clock between two stamps. nullopt when one is missing, or when they are so close together
/// that `step_ns`, by which the device's time moves on, makes an error of more than 5 %.
std::optional<double> clock_mhz(const ClockStamp& before, const ClockStamp& after,
                                std::uint64_t step_ns);

struct TimedLaunch {
  std::chrono::nanoseconds elapsed{0};
  std::optional<double> clock_mhz; ///< of multiprocessor 0 while it ran
  /// The host was so slow that the launch did not wait on the device when its turn came: the time
  /// of launching may be part of `elapsed`.
  bool disturbed = false;
};

/// Times work as nvbench times cold launches (nvbench/detail/measure_cold): the stream is held
/// while marks and work are queued, so that nothing of launching lies between the marks; the clock
/// is measured on the device around them. What two marks with nothing between them are apart (1.3
/// us on an H200) is no part of a time: with that taken off, times of 5 us to 1.6 ms are within
/// 3 % of ncu's gpu__time_duration (docs/measurements/timing-h200.md). Drivers without mapped words
/// do without all of it.
///
/// Where a stream's own structures lie in memory makes each of its launches some 60 ns (standard
/// deviation; H200) longer or shorter for as long as it lives, 1 % of a kernel of 5 us. So each
/// turn is timed on a stream drawn at random, where the driver has several. Throws GpuError.
class Timing {
public:
  /// `cache_bytes`: of the L2 cache; 0: not known.
  Timing(GpuDriver& driver, Helpers& helpers, Waiter& waiter, std::int64_t cache_bytes)
      : driver_(driver), helpers_(helpers), waiter_(waiter), cache_bytes_(cache_bytes) {}
  ~Timing();
  Timing(const Timing&) = delete; // owns device memory
  Timing& operator=(const Timing&) = delete;

  /// Draws another stream for the launches until the next call.
  void begin_turn();
  /// Queues what drives everything out of the L2 cache.
  void empty_cache();
  /// Runs what `queue_work` queues, with an empty cache for cold launches, and waits for it.
  /// `hold` false for what the driver may have to prepare at its first launch: it could wait for
  /// the stream, which waits for it. `where`: as of Waiter.
  TimedLaunch time(const std::function<void()>& queue_work, CacheState caches, bool hold,
                   const std::string& where);

private:
  void prepare(const std::string& where);
  void queue(const std::function<void()>& queue_work, bool hold);
  TimedLaunch take();
  bool may_hold() const { return words_.host != nullptr && disturbed_in_a_row_ < kMaxDisturbed; }
  void stamp(std::size_t which);
  ClockStamp stamped(std::size_t which) const;

  // Where the host is always too slow, holding is of no use.
  static constexpr int kMaxDisturbed = 3;

  GpuDriver& driver_;
  Helpers& helpers_;
  Waiter& waiter_;
  std::int64_t cache_bytes_;
  DeviceRange cache_filler_;
  std::size_t stream_ = 0; ///< of this turn
  bool prepared_ = false;
  MappedWords words_;
  std::uint64_t clock_step_ns_ = 0;
  std::chrono::nanoseconds marks_apart_{0}; ///< with nothing between them, in a held stream
  std::uint64_t turn_ = 0;                  ///< of holding
  bool held_ = false;                       ///< the last launch
  int disturbed_in_a_row_ = 0;
};

} // namespace winnow::evaluators::gpu
