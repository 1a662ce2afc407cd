#include "store/export.h"

#include "base/json_dump.h"
#include "store/candidate_record.h"
#include "store/fields.h"
#include "store/leaderboard_format.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

json run_json(const RunRow& run, const RunCosts& costs) {
  json document = record_json(run, {"id name config", "finished_at"});
  document["run_id"] = run.id;
  document["run"] = run.name;
  document.update(record_json(costs));
  return document;
}

/// False if the reply contained no kernel file. Then the stored text is the reply, which is never
/// exported.
bool has_kernel_file(const CandidateState& state) {
  return state.row.origin != "model" ||
         (state.best && state.best->verdict != tasks::Verdict::BadReply);
}

/// The numbers of the candidate's row on the board. After a final they are not those of the
/// evaluation.
json board_json(const LeaderboardRow& place) {
  const json row = leaderboard_json({place}, {})["rows"][0];
  json document;
  for (const char* name : {"speedup", "speedup_low", "speedup_high", "score_ns", "flag"}) {
    document[name] = row.at(name);
  }
  return document;
}

/// `place`: the candidate's row on the board; nullptr if it has none.
json candidate_json(const RunRow& run, const CandidateState& state, const LeaderboardRow* place) {
  const CandidateRow& row = state.row;
  const std::optional<tasks::Evaluation>& found = state.best;
  const bool ranked = place != nullptr && place->rank > 0;
  json document =
      record_json(row, {"id other_parents text speedup_versus", "call_key parent_id model"});
  document.update({{"candidate_id", row.id},
                   {"run_id", run.id},
                   {"run", run.name},
                   {"verdict", to_string(found ? found->verdict : tasks::Verdict::NotJudged)},
                   {"rank", ranked ? json(place->rank) : json(nullptr)},
                   {"tied", ranked ? json(place->tied) : json(nullptr)},
                   {"unranked", place != nullptr ? place->unranked : ""},
                   {"board", place != nullptr ? board_json(*place) : json(nullptr)},
                   {"kernel_file", has_kernel_file(state) ? json(row.text) : json(nullptr)},
                   {"evaluated_at", found ? json(found->started_at) : json(nullptr)},
                   {"evaluation", evaluation_document(state)}});
  return document;
}

json sitting_row_json(const tasks::SittingRow& row) {
  json document = record_json(row, {"times speedup_bounds"});
  document["speedup_low"] = row.speedup_bounds.low; // 0: not known
  document["speedup_high"] = row.speedup_bounds.high;
  if (row.rank == 0) {
    for (const char* name :
         {"rank", "speedup", "speedup_low", "speedup_high", "held_out_speedup", "score_ns"}) {
      document[name] = nullptr;
    }
  }
  return document;
}

json sitting_json(const StoredSitting& sitting) {
  json document = record_json(sitting.result, {"rows widening", "device_uuid driver worker"});
  document["sitting_id"] = sitting.id;
  document["run_id"] = sitting.run ? json(*sitting.run) : json(nullptr);
  document["task"] = sitting.task;
  document["rows"] = json::array();
  for (const tasks::SittingRow& row : sitting.result.rows) {
    document["rows"].push_back(sitting_row_json(row));
  }
  return document;
}

bool asked_for(const CandidateState& state, const LeaderboardQuery& query) {
  const bool right_task = query.task.empty() || query.task == state.row.task;
  const bool right_device =
      query.device.empty() || (state.best && state.best->device == query.device);
  return right_task && right_device;
}

/// Adds the runs that the query asks for, and their candidates.
void add_runs(const RunStore& store, LeaderboardQuery query, json& document) {
  query.top = 0;
  std::map<RowId, LeaderboardRow> places;
  for (LeaderboardRow& row : store.leaderboard(query)) {
    places.emplace(row.candidate_id, std::move(row));
  }
  for (const RunRow& run : store.runs()) {
    if (!query.run.empty() && query.run != run.name) {
      continue;
    }
    document["runs"].push_back(run_json(run, store.run_costs(run.id)));
    for (const CandidateState& state : store.candidates(run.id)) {
      if (asked_for(state, query)) {
        const auto place = places.find(state.row.id);
        document["candidates"].push_back(
            candidate_json(run, state, place != places.end() ? &place->second : nullptr));
      }
    }
  }
}

void add_sittings(const RunStore& store, const LeaderboardQuery& query, json& document) {
  const json& runs = document["runs"];
  for (const StoredSitting& sitting : store.sittings()) {
    const bool of_run = std::any_of(runs.begin(), runs.end(), [&](const json& run) {
      return query.run.empty() || (sitting.run && *sitting.run == run.at("run_id"));
    });
    if (of_run && (query.task.empty() || query.task == sitting.task)) {
      document["sittings"].push_back(sitting_json(sitting));
    }
  }
}

} // namespace

json export_document(const RunStore& store, const LeaderboardQuery& query) {
  std::vector<LeaderboardRow> rows = store.leaderboard(query);
  const BoardFacts facts = board_facts(store, query, rows);
  json board = leaderboard_json(rows, facts);
  json document{{"schema", "winnow.export"},
                {"version", 2},
                {"runs", json::array()},
                {"leaderboard", std::move(board["rows"])},
                {"baselines", std::move(board["baselines"])},
                {"gpu_spreads", std::move(board["gpu_spreads"])},
                {"summaries", std::move(board["summaries"])},
                {"not_ranked", std::move(board["not_ranked"])},
                {"verdict_counts", records_json(store.verdict_counts(query), {{}, "device"})},
                {"candidates", json::array()},
                {"sittings", json::array()}};
  add_runs(store, query, document);
  add_sittings(store, query, document);
  return document;
}

} // namespace winnow::store
