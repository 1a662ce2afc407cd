#pragma once

#include "evaluators/device/compare_core.h"
#include "evaluators/device/draw.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators::gpu {

/// A range of device memory. `begin` is a multiple of 8 unless stated otherwise.
struct DeviceRange {
  GpuAddress begin = 0;
  std::size_t bytes = 0;
};

/// The helper kernels (helper_kernels.h) of one driver. A call that returns no result only queues
/// work. Throws GpuError.
class Helpers {
public:
  static constexpr std::uint64_t kUntouched = ~std::uint64_t{0};

  /// Throws Error when `module` is not the helpers' module, compiled for this device.
  Helpers(GpuDriver& driver, const std::filesystem::path& module);
  ~Helpers();
  Helpers(const Helpers&) = delete; // owns device memory and a module
  Helpers& operator=(const Helpers&) = delete;

  void generate(DeviceRange range, const Draw& draw);
  void fill(DeviceRange range, std::uint64_t pattern);
  /// Turns the range into a guard zone (guard_core.h). It may begin at any address.
  void fill_guard(DeviceRange range, std::uint64_t salt);
  /// Evicts all other data from the L2 cache: reads a buffer of zeros several times the size of the
  /// cache.
  void drive_out_of_cache(DeviceRange zeros);
  /// Keeps the stream busy until the word at `released` reaches `turn`. If that takes more than
  /// `patience_ns`, sets the word at `gave_up` to `turn` and goes on.
  void hold(GpuAddress released, std::uint64_t turn, std::uint64_t patience_ns, GpuAddress gave_up);
  /// Writes two words: the device's time in ns, and the cycles of multiprocessor 0.
  void stamp_clock(GpuAddress stamp);
  /// Resolution of the device's time; 0: the device has none.
  std::uint64_t clock_step_ns();
  /// A checksum of the bytes and their positions. `salt`: see winnow_checksum().
  std::uint64_t checksum(DeviceRange range, std::uint64_t salt = 0);

  /// Begins a comparison. comparison() waits for its totals.
  void begin_comparison();
  /// `got`: elements of `dtype`. `expected` and `magnitude` have as many doubles.
  void compare(DeviceRange got, tasks::DType dtype, GpuAddress expected, GpuAddress magnitude,
               const ErrorLimits& limits);
  /// Adds to `beyond` when the bytes differ.
  void compare_exact(DeviceRange got, GpuAddress expected);
  ErrorTotals comparison();

  /// Begins a series of `count` checks. findings() waits for their results.
  void begin_checks(std::size_t count);
  /// Finds the first byte that differs from the drawn data.
  void check_drawn(std::size_t check, DeviceRange range, const Draw& draw);
  /// Finds a changed byte: its distance from the begin of the range (any address). With
  /// `backwards`, its distance from the end, where the last byte has distance 1.
  void check_guard(std::size_t check, DeviceRange range, std::uint64_t salt, bool backwards);
  /// One result per check; kUntouched: no difference.
  std::vector<std::uint64_t> findings();

private:
  template <typename... Arguments>
  void launch(const char* kernel, std::uint64_t threads, Arguments... arguments);
  GpuAddress slot(std::size_t check) const { return results_ + check * sizeof(std::uint64_t); }
  void reserve_results(std::size_t count);
  void release();

  GpuDriver& driver_;
  std::uint64_t multiprocessors_;
  GpuModule module_ = 0;
  std::map<std::string, GpuKernel> kernels_;
  GpuAddress results_ = 0; ///< 64-bit results of checks and comparisons
  std::size_t reserved_results_ = 0;
  std::size_t checks_ = 0;
};

} // namespace winnow::evaluators::gpu
