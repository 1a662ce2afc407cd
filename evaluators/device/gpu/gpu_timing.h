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

/// The device's time and the cycles of one multiprocessor at the same moment; 0: not known.
struct ClockStamp {
  std::uint64_t ns = 0;
  std::uint64_t cycles = 0;
};

/// The clock between two stamps. nullopt when a stamp is missing, or when the stamps are so close
/// together that `step_ns`, the resolution of the device's time, causes an error of more than 5 %.
std::optional<double> clock_mhz(const ClockStamp& before, const ClockStamp& after,
                                std::uint64_t step_ns);

struct TimedLaunch {
  std::chrono::nanoseconds elapsed{0};
  std::optional<double> clock_mhz; ///< clock of multiprocessor 0 during the launch
  /// The host was too slow: the launch was not yet queued when the stream was ready for it, so
  /// `elapsed` may contain launch overhead.
  bool disturbed = false;
};

/// Times work in the way in which nvbench times cold launches (nvbench/detail/measure_cold). The
/// stream is held while marks and work are queued, so that no launch overhead lies between the
/// marks. The clock is measured on the device, before and after the work. The interval between two
/// marks with no work between them (1.3 us on an H200) is subtracted from every time. Times from 5
/// us to 1.6 ms are then within 3 % of ncu's gpu__time_duration (docs/measurements/trust.md).
/// Drivers without mapped words do none of this.
///
/// The addresses of a stream's internal structures change each of its launches by about 60 ns
/// (standard deviation, H200), which is 1 % of a 5 us kernel. The change stays the same as long as
/// the stream lives. So each turn uses a stream drawn at random, if the driver has several. Throws
/// GpuError.
class Timing {
public:
  /// `cache_bytes`: size of the L2 cache; 0: not known.
  Timing(GpuDriver& driver, Helpers& helpers, Waiter& waiter, std::int64_t cache_bytes)
      : driver_(driver), helpers_(helpers), waiter_(waiter), cache_bytes_(cache_bytes) {}
  ~Timing();
  Timing(const Timing&) = delete; // owns device memory
  Timing& operator=(const Timing&) = delete;

  /// Draws another stream for the launches until the next begin_turn().
  void begin_turn();
  /// Queues work that evicts all data from the L2 cache.
  void empty_cache();
  /// Runs the work that `queue_work` queues and waits for it. Empties the cache before a cold
  /// launch. Pass `hold` = false if the driver may have to prepare the work at its first launch:
  /// the driver could then wait for the held stream for ever. `where`: see Waiter.
  TimedLaunch time(const std::function<void()>& queue_work, CacheState caches, bool hold,
                   const std::string& where);

private:
  void prepare(const std::string& where);
  void queue(const std::function<void()>& queue_work, bool hold);
  TimedLaunch take();
  bool may_hold() const { return words_.host != nullptr && disturbed_in_a_row_ < kMaxDisturbed; }
  void stamp(std::size_t which);
  ClockStamp stamped(std::size_t which) const;

  // After so many disturbed launches in a row, the stream is not held any more, because the host is
  // always too slow.
  static constexpr int kMaxDisturbed = 3;

  GpuDriver& driver_;
  Helpers& helpers_;
  Waiter& waiter_;
  std::int64_t cache_bytes_;
  DeviceRange cache_filler_;
  std::size_t stream_ = 0; ///< stream of this turn
  bool prepared_ = false;
  MappedWords words_;
  std::uint64_t clock_step_ns_ = 0;
  /// Interval between two marks without work, in a held stream.
  std::chrono::nanoseconds marks_apart_{0};
  std::uint64_t turn_ = 0; ///< number of the last launch, for holding
  bool held_ = false;      ///< the last launch was held
  int disturbed_in_a_row_ = 0;
};

} // namespace winnow::evaluators::gpu
