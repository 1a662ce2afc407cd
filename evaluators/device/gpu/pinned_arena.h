#pragma once

#include "evaluators/device/gpu/gpu_driver.h"

#include <algorithm>
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
  void cover(std::span<const std::byte> part) {
    const std::byte* begin = arena_.data();
    if (part.data() < begin || part.data() + part.size() > begin + arena_.size()) {
      return;
    }
    const auto first = static_cast<std::size_t>(part.data() - begin);
    const std::size_t end = first + part.size();
    const bool split = first < pinned_bytes_ && end > pinned_bytes_;
    if (split || (end > pinned_bytes_ && part.size() >= kWorthwhileBytes)) {
      // The driver pins the whole part again, so the part grows by a share of its size.
      const std::size_t least = std::max(end, pinned_bytes_ + pinned_bytes_ / 2);
      pinned_bytes_ = std::min(arena_.size(), (least + kStepBytes - 1) / kStepBytes * kStepBytes);
      driver_.pin(arena_.first(pinned_bytes_));
    }
  }

private:
  static constexpr std::size_t kWorthwhileBytes = std::size_t{1} << 20U;
  static constexpr std::size_t kStepBytes = std::size_t{256} << 20U;

  GpuDriver& driver_;
  std::span<std::byte> arena_;
  std::size_t pinned_bytes_ = 0;
};

} // namespace winnow::evaluators::gpu
