#pragma once

#include <cstdint>
#include <functional>

namespace winnow {

/// Calls `work(first, end)` for parts that make up [0, count), at once on as many cores as are
/// worth it: no part but the last has fewer than `least` elements. `work` must not throw.
void in_parts(std::uint64_t count, std::uint64_t least,
              const std::function<void(std::uint64_t first, std::uint64_t end)>& work);

} // namespace winnow
