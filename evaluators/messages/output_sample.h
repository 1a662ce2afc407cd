#pragma once

#include "evaluators/device/device.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// The pieces of a timed launch's output that are judged. An output of `count` elements is judged
/// whole if it has at most 8 MiB. Otherwise 16 pieces of 256 KiB are judged, one from each
/// sixteenth of the output; `draw` decides their positions. The last piece has up to 7 elements
/// more. Every element of the output can be drawn; none is drawn less often than those in the
/// middle of a sixteenth. `draw` must stay unknown until the launch has ended. A launch that leaves
/// out a contiguous eighth of its output or more is always found out.
std::vector<Piece> drawn_pieces(std::uint64_t count, std::uint64_t element_bytes,
                                std::uint64_t draw);
/// The size of all drawn pieces together.
std::uint64_t drawn_bytes(std::uint64_t count, std::uint64_t element_bytes);

} // namespace winnow::evaluators
