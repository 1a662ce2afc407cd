#include "evaluators/worker/output_sample.h"

#include <random>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kWholeBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kPieces = 16;
constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10U;
// In elements. Pieces of every type begin at whole words.
constexpr std::uint64_t kPieceStep = 8;

} // namespace

std::vector<Piece> drawn_pieces(std::uint64_t count, std::uint64_t element_bytes,
                                std::uint64_t draw) {
  if (count * element_bytes <= kWholeBytes) {
    return {{0, count}};
  }
  std::mt19937_64 random(draw);
  const std::uint64_t in_piece = kPieceBytes / element_bytes;
  std::vector<Piece> pieces;
  for (std::uint64_t part = 0; part < kPieces; ++part) {
    const std::uint64_t begin = part * count / kPieces;
    const std::uint64_t room = (part + 1) * count / kPieces - begin - in_piece;
    const std::uint64_t first = begin + random() % (room + 1);
    pieces.push_back({first / kPieceStep * kPieceStep, in_piece});
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
