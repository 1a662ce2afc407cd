#include "evaluators/device/gpu/pinned_arena.h"

#include <algorithm>

namespace winnow::evaluators::gpu {
namespace {

constexpr std::size_t kWorthwhileBytes = std::size_t{1} << 20U;
constexpr std::size_t kStepBytes = std::size_t{256} << 20U;

} // namespace

void PinnedArena::cover(std::span<const std::byte> part) {
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

} // namespace winnow::evaluators::gpu
