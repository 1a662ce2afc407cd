#include "store/export.h"

#include "base/json_dump.h"
#include "store/export_data.h"
#include "store/leaderboard_format.h"
#include "store/text_table.h"

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

json run_json(const RunRow& run, const RunCosts& costs) {
  return {{"run_id", run.id},
          {"run", run.name},
          {"status", run.status},
          {"started_at", run.started_at},
          {"finished_at", text_or_null(run.finished_at)},
          {"calls", costs.calls},
          {"calls_from_record", costs.calls_from_record},
          {"prompt_tokens", costs.prompt_tokens},
          {"completion_tokens", costs.completion_tokens},
          {"dollars", number_or_null(costs.dollars)},
          {"calls_without_price", costs.calls_without_price},
          {"unconfirmed_sendings", costs.unconfirmed_sendings},
          {"unconfirmed_tokens", costs.unconfirmed_tokens},
          {"unconfirmed_dollars", costs.unconfirmed_dollars}};
}

json candidate_json(const ExportedCandidate& candidate) {
  const CandidateRow& row = candidate.state.row;
  const std::optional<tasks::Evaluation>& found = candidate.state.best;
  return {{"candidate_id", row.id},
          {"run_id", candidate.run_id},
          {"run", candidate.run},
          {"task", row.task},
          {"origin", row.origin},
          {"model", text_or_null(row.model)},
          {"call_key", text_or_null(row.call_key)},
          {"parent_id", row.parent_id == 0 ? json(nullptr) : json(row.parent_id)},
          {"created_at", row.created_at},
          {"digest", row.digest},
          {"dollars", number_or_null(row.dollars)},
          {"verdict", verdict_text(candidate.state)},
          {"rank", candidate.rank == 0 ? json(nullptr) : json(candidate.rank)},
          {"tied", candidate.rank == 0 ? json(nullptr) : json(candidate.is_tied)},
          {"unranked", candidate.unranked},
          {"kernel_file", has_kernel_file(candidate.state) ? json(row.text) : json(nullptr)},
          {"evaluated_at", found ? json(found->started_at) : json(nullptr)},
          {"evaluation", found ? tasks::evaluation_json(*found) : json(nullptr)}};
}

json sitting_row_json(const tasks::SittingRow& row) {
  const bool placed = row.rank > 0;
  const auto measured = [&](double number) { return placed ? json(number) : json(nullptr); };
  return {{"kernel", row.kernel},
          {"verdict", to_string(row.verdict)},
          {"detail", row.detail},
          {"rank", placed ? json(row.rank) : json(nullptr)},
          {"speedup", measured(row.speedup)},
          {"speedup_low", measured(row.speedup_bounds.low)},
          {"speedup_high", measured(row.speedup_bounds.high)},
          {"held_out_speedup", measured(row.held_out_speedup)},
          {"score_ns", measured(row.score_ns)},
          {"races", row.races}};
}

json sitting_json(const StoredSitting& sitting) {
  json rows = json::array();
  for (const tasks::SittingRow& row : sitting.result.rows) {
    rows.push_back(sitting_row_json(row));
  }
  return {{"sitting_id", sitting.id},
          {"run_id", sitting.run ? json(*sitting.run) : json(nullptr)},
          {"task", sitting.task},
          {"device", sitting.result.device},
          {"device_name", sitting.result.device_name},
          {"evaluator_version", sitting.result.evaluator_version},
          {"seed", std::to_string(sitting.result.seed)},
          {"rounds", sitting.result.rounds},
          {"baseline_spread", sitting.result.baseline_spread},
          {"started_at", sitting.result.started_at},
          {"seconds", sitting.result.seconds},
          {"rows", rows}};
}

std::string to_json_text(const ExportedRun& all) {
  json document{{"schema", "winnow.export"},   {"version", 2},
                {"runs", json::array()},       {"leaderboard", json::array()},
                {"baselines", json::array()},  {"verdict_counts", json::array()},
                {"candidates", json::array()}, {"sittings", json::array()}};
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    document["runs"].push_back(run_json(all.runs[i], all.costs[i]));
  }
  for (const LeaderboardRow& row : all.leaderboard) {
    document["leaderboard"].push_back(leaderboard_row_json(row));
  }
  for (const BaselineStanding& standing : all.baselines) {
    document["baselines"].push_back(baseline_standing_json(standing));
  }
  for (const VerdictCount& count : all.verdicts) {
    document["verdict_counts"].push_back({{"run", count.run},
                                          {"task", count.task},
                                          {"device", text_or_null(count.device)},
                                          {"verdict", count.verdict},
                                          {"candidates", count.candidates}});
  }
  for (const StoredSitting& sitting : all.sittings) {
    document["sittings"].push_back(sitting_json(sitting));
  }
  for (const ExportedCandidate& candidate : all.candidates) {
    document["candidates"].push_back(candidate_json(candidate));
  }
  return json_document(document);
}

/// One row per candidate, with its kernel file in the last column.
std::string to_csv_text(const ExportedRun& all) {
  std::vector<json> rows;
  for (const ExportedCandidate& candidate : all.candidates) {
    json row = tasks::evaluation_json(candidate.state.best.value_or(tasks::Evaluation{}));
    for (auto& [name, value] : row.items()) {
      const bool not_timed = (name == "speedup" || name == "score_ns") && value == 0;
      value = candidate.state.best && !not_timed ? value : json(nullptr);
    }
    row.update(candidate_json(candidate));
    rows.push_back(std::move(row));
  }
  return to_csv(csv_table(rows, {"run_id",       "run",          "task",
                                 "candidate_id", "parent_id",    "origin",
                                 "model",        "verdict",      "stage",
                                 "rank",         "tied",         "unranked",
                                 "speedup",      "speedup_low",  "speedup_high",
                                 "score_ns",     "parameters",   "device",
                                 "device_name",  "isolation",    "evaluator_version",
                                 "seed",         "evaluated_at", "digest",
                                 "dollars",      "detail",       "kernel_file"}));
}

} // namespace

std::string export_run(const RunStore& store, const LeaderboardQuery& query, Format format) {
  const ExportedRun all = collect_export(store, query);
  switch (format) {
  case Format::Json:
    return to_json_text(all);
  case Format::Csv:
    return to_csv_text(all);
  case Format::Markdown:
  case Format::Table:
    break;
  }
  return export_markdown(all);
}

} // namespace winnow::store
