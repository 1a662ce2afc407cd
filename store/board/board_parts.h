#pragma once

#include "store/board/board_data.h"
#include "store/database.h"
#include "store/run_store.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// A part of the document that has one JSON value for each of some candidates.
struct BoardPart {
  std::string name;
  std::vector<RowId> candidates;           ///< ascending
  std::function<std::string(RowId)> value; ///< JSON; empty: the candidate has none
};

/// Packs the part. Returns no chunk if these would have more than `max_bytes`.
std::optional<std::vector<BoardChunk>> pack_part(const BoardPart& part, std::size_t max_bytes);

/// Reads what a page shows of one candidate. All texts are valid UTF-8.
class CandidateReader {
public:
  explicit CandidateReader(const Database& database);

  /// The evaluation: detail, notes, build, cases, race. A hidden case has only its verdict.
  std::string result(RowId candidate);
  std::string kernel_file(RowId candidate); ///< a JSON text
  /// {"CASE":{"candidate":[...],"baseline":[...]}}, in ns, for the cases that are not hidden.
  std::string samples(RowId candidate);
  std::string conversation(RowId candidate); ///< {"messages":[...],"reply":...}

private:
  Query evaluation_, cases_, hidden_, kernel_, samples_, call_, messages_;
};

/// For each model, over the tasks at which it has a correct kernel that was timed: the mean of the
/// speedups of its best kernels, as they were measured when each was judged.
nlohmann::json model_means(const Database& database, const LeaderboardQuery& query);

} // namespace winnow::store
