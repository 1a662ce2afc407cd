#pragma once

#include "store/run_store.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// The data of an export. All of it may leave the machine, except texts without a kernel file.
struct ExportedCandidate {
  std::string run;
  RowId run_id = 0;
  CandidateState state;
  std::int64_t rank = 0; ///< 0: not ranked
  bool is_tied = false;  ///< another kernel of the board has the same rank
  std::string unranked;  ///< why the board shows the candidate without a rank
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

/// False if the reply contained no kernel file. Then the stored text is the reply, which is never
/// exported.
bool has_kernel_file(const CandidateState& state);
std::string_view verdict_text(const CandidateState& state);

/// For reading: shortened digests, two decimals.
std::string export_markdown(const ExportedRun& all);

} // namespace winnow::store
