#pragma once

#include "store/board/board.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace winnow::store {

class Database;

/// A part of a document that the page unpacks when it needs it: {"ID":...} for the candidates from
/// `first` to `last`, as a gzip file in base64.
struct BoardChunk {
  std::string part;
  RowId first = 0, last = 0;
  std::string packed;
};

/// The document of a board, schema "winnow.board", version 1.
struct BoardData {
  std::string index; ///< JSON
  std::vector<BoardChunk> chunks;
};

/// Reads the document, which has about `max_bytes` or less. Leaves parts out in this order: samples
/// of candidates that lead no board, prompts and replies, kernel files of incorrect candidates,
/// samples of the leaders, candidates below the top of their board.
BoardData read_board(const RunStore& store, const Database& database, const BoardOptions& options,
                     std::size_t max_bytes);

} // namespace winnow::store
