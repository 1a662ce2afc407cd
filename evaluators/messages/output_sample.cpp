#include "evaluators/messages/output_sample.h"

#include <algorithm>
#include <random>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kWholeBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kPieces = 16;
constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10U;
// In elements. Pieces of every type begin at whole words.
constexpr std::uint64_t kPieceStep = 8;

std::uint64_t whole_steps(std::uint64_t elements) {
  return elements / kPieceStep * kPieceStep;
}

/// A piece in the elements from `begin`, a whole step, to `end`, of which each is in it with at
/// least the same probability. So the first and the last position are drawn more often than others.
Piece drawn_piece(std::uint64_t begin, std::uint64_t end, std::uint64_t in_piece,
                  std::uint64_t number) {
  const std::uint64_t size = in_piece + end % kPieceStep; // reaches an end that is no whole step
  const std::uint64_t room = end - begin - size;
  const std::uint64_t at = number % (room + 2 * in_piece);
  const std::uint64_t shift = at < in_piece ? 0 : std::min(at - in_piece, room);
  return {begin + whole_steps(shift), size};
}

} // namespace

std::vector<Piece> drawn_pieces(std::uint64_t count, std::uint64_t element_bytes,
                                std::uint64_t draw) {
  if (count * element_bytes <= kWholeBytes) {
    return {{0, count}};
  }
  std::mt19937_64 random(draw);
  const std::uint64_t in_piece = kPieceBytes / element_bytes;
  const auto begin_of = [count](std::uint64_t part) {
    return part == kPieces ? count : whole_steps(part * count / kPieces);
  };
  std::vector<Piece> pieces;
  for (std::uint64_t part = 0; part < kPieces; ++part) {
    pieces.push_back(drawn_piece(begin_of(part), begin_of(part + 1), in_piece, random()));
  }
  return pieces;
}

std::uint64_t drawn_bytes(std::uint64_t count, std::uint64_t element_bytes) {
  std::uint64_t elements = 0;
  for (const Piece& piece : drawn_pieces(count, element_bytes, 0)) {
    elements += piece.count;
  }
  return elements * element_bytes;
}

} // namespace winnow::evaluators
