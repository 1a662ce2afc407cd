#pragma once

#include "evaluators/device/gpu/gpu_driver.h"

#include <cstddef>
#include <span>

namespace winnow::evaluators::gpu {

/// The host memory through which tensors travel. It is pinned up to the end of the largest copy so
/// far, so that copies run at the speed of the bus. The pinned part always starts at the begin of
/// the arena, where each request puts its first data.
class PinnedArena {
public:
  /// `arena` may be empty.
  PinnedArena(GpuDriver& driver, std::span<std::byte> arena) : driver_(driver), arena_(arena) {}

  /// Call before each copy to or from `part`. Ignores memory outside of the arena, and small parts
  /// behind the pinned memory. CUDA refuses to copy memory that is pinned in part only.
  void cover(std::span<const std::byte> part);

private:
  GpuDriver& driver_;
  std::span<std::byte> arena_;
  std::size_t pinned_bytes_ = 0;
};

} // namespace winnow::evaluators::gpu
