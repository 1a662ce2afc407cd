#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace winnow {

/// Splits [0, count) into parts and calls `work(first, end)` for each part, in parallel on up to 16
/// cores. Every part but the last has at least `least` elements. `work` must not throw.
void in_parts(std::uint64_t count, std::uint64_t least,
              const std::function<void(std::uint64_t first, std::uint64_t end)>& work);

/// memcpy() on several cores. The ranges must not overlap; `to` has at least the size of `from`.
void copy_in_parts(std::span<const std::byte> from, std::span<std::byte> to);

/// memcmp() on several cores: whether both ranges have the same size and bytes.
bool equal_in_parts(std::span<const std::byte> left, std::span<const std::byte> right);

} // namespace winnow
