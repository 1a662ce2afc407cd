#include "store/export_data.h"

#include <algorithm>
#include <map>

namespace winnow::store {
namespace {

bool asked_for(const CandidateState& state, const LeaderboardQuery& query) {
  const bool right_task = query.task.empty() || query.task == state.row.task;
  const bool right_device =
      query.device.empty() || (state.best && state.best->device == query.device);
  return right_task && right_device;
}

} // namespace

ExportedRun collect_export(const RunStore& store, const LeaderboardQuery& query) {
  ExportedRun all;
  all.leaderboard = store.leaderboard(query);
  all.baselines = store.baseline_standings(all.leaderboard);
  all.verdicts = store.verdict_counts(query);
  LeaderboardQuery everyone = query;
  everyone.top = 0;
  std::map<RowId, LeaderboardRow> listed;
  for (LeaderboardRow& row : store.leaderboard(everyone)) {
    listed.emplace(row.candidate, std::move(row));
  }
  for (RunRow& run : store.runs()) {
    if (!query.run.empty() && query.run != run.name) {
      continue;
    }
    for (CandidateState& state : store.candidates(run.id)) {
      if (asked_for(state, query)) {
        const auto row = listed.find(state.row.id);
        ExportedCandidate& candidate = all.candidates.emplace_back();
        candidate.run = run.name;
        candidate.run_id = run.id;
        candidate.state = std::move(state);
        if (row != listed.end()) {
          candidate.rank = row->second.rank;
          candidate.is_tied = row->second.is_tied;
          candidate.unranked = row->second.unranked;
        }
      }
    }
    all.costs.push_back(store.run_costs(run.id));
    all.runs.push_back(std::move(run));
  }
  for (StoredSitting& sitting : store.sittings()) {
    const bool of_run = std::any_of(all.runs.begin(), all.runs.end(), [&](const RunRow& run) {
      return query.run.empty() || sitting.run == run.id;
    });
    if (of_run && (query.task.empty() || query.task == sitting.task)) {
      all.sittings.push_back(std::move(sitting));
    }
  }
  return all;
}

bool has_kernel_file(const CandidateState& state) {
  return state.row.origin != "model" ||
         (state.best && state.best->verdict != tasks::Verdict::BadReply);
}

std::string_view verdict_text(const CandidateState& state) {
  return to_string(state.best ? state.best->verdict : tasks::Verdict::NotJudged);
}

} // namespace winnow::store
