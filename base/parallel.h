#pragma once

#include <cstdint>
#include <functional>

namespace winnow {

/// Splits [0, count) into parts and calls `work(first, end)` for each part, in parallel on up to 16
/// cores. Every part but the last has at least `least` elements. `work` must not throw.
void in_parts(std::uint64_t count, std::uint64_t least,
              const std::function<void(std::uint64_t first, std::uint64_t end)>& work);

} // namespace winnow
