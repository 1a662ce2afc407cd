#pragma once

#include "evaluators/device/device.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/pinned_arena.h"

#include <cstddef>
#include <span>
#include <vector>

namespace winnow::evaluators::gpu {

/// Compares outputs in host memory with the reference's outputs in device memory. Throws GpuError.
class Comparer {
public:
  static constexpr std::size_t kStagingBytes = std::size_t{64} << 20U;

  /// Uploads outputs in parts of `staging_bytes`, which must be a multiple of 8.
  Comparer(GpuDriver& driver, Helpers& helpers, PinnedArena& arena,
           std::size_t staging_bytes = kStagingBytes)
      : driver_(driver), helpers_(helpers), arena_(arena), staging_bytes_(staging_bytes) {}
  ~Comparer();
  Comparer(const Comparer&) = delete; // owns device memory
  Comparer& operator=(const Comparer&) = delete;

  /// `got`: elements of `dtype`, the `pieces` of the output one after the other. `expected` and
  /// `magnitude`: one double for each element of the output. If `magnitude` is empty, the output is
  /// exact and `expected` has elements of `dtype`. Throws Error when the sizes do not match.
  ErrorTotals compare(std::span<const std::byte> got, const std::vector<Piece>& pieces,
                      tasks::DType dtype, DeviceRange expected, DeviceRange magnitude,
                      const ErrorLimits& limits);

private:
  void stage(std::span<const std::byte> bytes);

  GpuDriver& driver_;
  Helpers& helpers_;
  PinnedArena& arena_;
  std::size_t staging_bytes_;
  DeviceRange staging_; ///< holds one part of an output; allocated by the first comparison
};

} // namespace winnow::evaluators::gpu
