#pragma once

#include <cstdint>

namespace winnow::evaluators {

/// A range of consecutive elements of a buffer.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

} // namespace winnow::evaluators
