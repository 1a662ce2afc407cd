#pragma once

#include "evaluators/device/compare_core.h"
#include "evaluators/device/draw.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "tasks/task.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators::gpu {

/// Bytes on the device. `begin` is a multiple of 8 unless said otherwise.
struct DeviceRange {
  GpuAddress begin = 0;
  std::size_t bytes = 0;
};

/// The helper kernels (helper_kernels.h) of one driver. Calls only queue work unless they return a
/// result. Throws GpuError.
class Helpers {
public:
  static constexpr std::uint64_t kUntouched = ~std::uint64_t{0};

  /// Throws Error when `module` is not the helpers, compiled for this device.
  Helpers(GpuDriver& driver, const std::filesystem::path& module);
  ~Helpers();
  Helpers(const Helpers&) = delete; // owns device memory and a module
  Helpers& operator=(const Helpers&) = delete;

  void generate(DeviceRange range, const Draw& draw);
  void fill(DeviceRange range, std::uint64_t pattern);
  /// Makes it a guard zone (guard_core.h); from any address on.
  void fill_guard(DeviceRange range, std::uint64_t salt);
  /// Reads a buffer of zeros that is several times as large as the L2 cache.
  void drive_out_of_cache(DeviceRange zeros);
  /// Keeps the stream busy until the word at `released` reaches `turn`, `patience_ns` at most; then
  /// the word at `gave_up` becomes `turn`.
  void hold(GpuAddress released, std::uint64_t turn, std::uint64_t patience_ns, GpuAddress gave_up);
  /// Two words: the device's time in ns, and the cycles of multiprocessor 0.
  void stamp_clock(GpuAddress stamp);
  /// By which the device's time moves on; 0: it has none.
  std::uint64_t clock_step_ns();
  /// Of the bytes and their places; see winnow_checksum() for `salt`.
  std::uint64_t checksum(DeviceRange range, std::uint64_t salt = 0);

  /// Begins a comparison, whose totals comparison() waits for.
  void begin_comparison();
  /// `got`: elements of `dtype`; as many doubles at `expected` and `magnitude`.
  void compare(DeviceRange got, tasks::DType dtype, GpuAddress expected, GpuAddress magnitude,
               const ErrorLimits& limits);
  /// Adds to `beyond` when the bytes are not the same.
  void compare_exact(DeviceRange got, GpuAddress expected);
  ErrorTotals comparison();

  /// Begins a round of `count` checks, whose findings findings() waits for.
  void begin_checks(std::size_t count);
  /// Finding: the first byte that is not as drawn.
  void check_drawn(std::size_t check, DeviceRange range, const Draw& draw);
  /// Finding: the distance from the range's begin (any address), or from its end with `backwards`,
  /// where the last byte is 1 away.
  void check_guard(std::size_t check, DeviceRange range, std::uint64_t salt, bool backwards);
  /// One a check; kUntouched: nothing found.
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
  GpuAddress results_ = 0; ///< 64-bit numbers
  std::size_t reserved_results_ = 0;
  std::size_t checks_ = 0;
};

} // namespace winnow::evaluators::gpu
