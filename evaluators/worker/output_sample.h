#pragma once

#include "evaluators/device/piece.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// What is judged of a timed launch's output of `count` elements: the whole output where it has at
/// most 8 MiB, else 16 pieces of 256 KiB, one from each sixteenth. `draw` decides where they lie;
/// nobody may know it before the launch has ended. A launch that leaves out a sixteenth of its
/// output or more, in one piece, is always seen.
std::vector<Piece> drawn_pieces(std::uint64_t count, std::uint64_t element_bytes,
                                std::uint64_t draw);
/// Of all drawn pieces together.
std::uint64_t drawn_bytes(std::uint64_t count, std::uint64_t element_bytes);

} // namespace winnow::evaluators
