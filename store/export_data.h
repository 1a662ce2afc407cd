#pragma once

#include "store/run_store.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// What exports are made of; nothing in it must stay here but the texts without a kernel file.
struct ExportedCandidate {
  std::string run;
  RowId run_id = 0;
  CandidateState state;
  std::int64_t rank = 0; ///< 0: not ranked
  bool is_tied = false;  ///< with another kernel of its board
  std::string unranked;  ///< why it is on a board without a rank
};

struct ExportedRun {
  std::vector<RunRow> runs;
  std::vector<RunCosts> costs; ///< of the same runs
  std::vector<LeaderboardRow> leaderboard;
  std::vector<BaselineStanding> baselines;
  std::vector<VerdictCount> verdicts;
  std::vector<ExportedCandidate> candidates;
  std::vector<StoredSitting> sittings;
};

ExportedRun collect_export(const RunStore& store, const LeaderboardQuery& query);

/// Where no kernel file could be taken from a reply, the stored text is the reply, which stays
/// here.
bool has_kernel_file(const CandidateState& state);
std::string_view verdict_text(const CandidateState& state);

/// For reading: short digests, two decimals.
std::string export_markdown(const ExportedRun& all);

} // namespace winnow::store
