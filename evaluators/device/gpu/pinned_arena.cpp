#include "evaluators/device/gpu/pinned_arena.h"

#include <algorithm>

namespace winnow::evaluators::gpu {
namespace {

constexpr std::size_t kWorthwhileBytes = std::size_t{1} << 20U;
constexpr std::size_t kStepBytes = std::size_t{256} << 20U; // growing pins the whole part again

} // namespace

void PinnedArena::cover(std::span<const std::byte> part) {
  const std::byte* begin = arena_.data();
  if (part.size() < kWorthwhileBytes || part.data() < begin ||
      part.data() + part.size() > begin + arena_.size()) {
    return;
  }
  const auto end = static_cast<std::size_t>(part.data() - begin) + part.size();
  if (end > pinned_bytes_) {
    pinned_bytes_ = std::min(arena_.size(), (end + kStepBytes - 1) / kStepBytes * kStepBytes);
    driver_.pin(arena_.first(pinned_bytes_));
  }
}

} // namespace winnow::evaluators::gpu
