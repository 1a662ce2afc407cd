#include "evaluators/device/device.h"

namespace winnow::evaluators {

void Device::download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                             std::size_t element_bytes, std::span<std::byte> bytes) {
  for (const Piece& piece : pieces) {
    const std::size_t size = piece.count * element_bytes;
    download(buffer, bytes.first(size), piece.first * element_bytes);
    bytes = bytes.subspan(size);
  }
}

} // namespace winnow::evaluators
