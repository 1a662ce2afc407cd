#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/pinned_arena.h"
#include "evaluators/device/piece.h"

#include <cstddef>
#include <span>
#include <vector>

namespace winnow::evaluators::gpu {

/// Compares outputs that lie on the host with the reference's, on the device. Throws GpuError.
class Comparer {
public:
  static constexpr std::size_t kStagingBytes = std::size_t{64} << 20U;

  /// Outputs are uploaded in parts of `staging_bytes`, a multiple of 8.
  Comparer(GpuDriver& driver, Helpers& helpers, PinnedArena& arena,
           std::size_t staging_bytes = kStagingBytes)
      : driver_(driver), helpers_(helpers), arena_(arena), staging_bytes_(staging_bytes) {}
  ~Comparer();
  Comparer(const Comparer&) = delete; // owns device memory
  Comparer& operator=(const Comparer&) = delete;

  /// `got`: elements of `dtype`, the output's `pieces` one after the other. `expected` and
  /// `magnitude`: doubles, one for each element of the output; an empty `magnitude`: `expected` has
  /// elements of `dtype`, and the output is exact. Throws Error when these do not fit together.
  ErrorTotals compare(std::span<const std::byte> got, const std::vector<Piece>& pieces,
                      tasks::DType dtype, DeviceRange expected, DeviceRange magnitude,
                      const ErrorLimits& limits);

private:
  void stage(std::span<const std::byte> bytes);

  GpuDriver& driver_;
  Helpers& helpers_;
  PinnedArena& arena_;
  std::size_t staging_bytes_;
  DeviceRange staging_; ///< for a part of an output; from the first comparison on
};

} // namespace winnow::evaluators::gpu
