#pragma once

#include "evaluators/device/gpu/gpu_driver.h"

#include <cstddef>
#include <span>

namespace winnow::evaluators::gpu {

/// The host memory that tensors travel through, pinned as far as large copies have come, so that
/// they run at the speed of the bus. What is pinned always begins at the arena's begin, where each
/// request starts to put its data.
class PinnedArena {
public:
  /// `arena` may be empty.
  PinnedArena(GpuDriver& driver, std::span<std::byte> arena) : driver_(driver), arena_(arena) {}

  /// Before a copy to or from `part`; nothing happens for small parts and other memory.
  void cover(std::span<const std::byte> part);

private:
  GpuDriver& driver_;
  std::span<std::byte> arena_;
  std::size_t pinned_bytes_ = 0;
};

} // namespace winnow::evaluators::gpu
