#include "store/export.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/leaderboard_format.h"
#include "store/text_table.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

struct ExportedCandidate {
  std::string run;
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
  std::vector<HeldOutResult> held_out;
};

bool asked_for(const CandidateState& state, const LeaderboardQuery& query) {
  const bool right_task = query.task.empty() || query.task == state.row.task;
  const bool right_device =
      query.device.empty() || (state.best && state.best->device == query.device);
  return right_task && right_device;
}

ExportedRun collect(const RunStore& store, const LeaderboardQuery& query) {
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
        candidate.state = std::move(state);
        if (row != listed.end()) {
          candidate.rank = row->second.rank;
          candidate.is_tied = row->second.is_tied;
          candidate.unranked = row->second.unranked;
        }
      }
    }
    for (HeldOutResult& result : store.held_out(run.id)) {
      if (query.task.empty() || query.task == result.task) {
        all.held_out.push_back(std::move(result));
      }
    }
    all.costs.push_back(store.run_costs(run.id));
    all.runs.push_back(std::move(run));
  }
  return all;
}

/// Where no kernel file could be taken from a reply, the stored text is the reply, which stays
/// here.
bool has_kernel_file(const CandidateState& state) {
  return state.row.origin != "model" ||
         (state.best && state.best->verdict != tasks::Verdict::BadReply);
}

std::string_view verdict_text(const CandidateState& state) {
  return to_string(state.best ? state.best->verdict : tasks::Verdict::NotJudged);
}

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

json run_json(const RunRow& run, const RunCosts& costs) {
  return {{"id", run.id},
          {"name", run.name},
          {"status", run.status},
          {"started_at", run.started_at},
          {"finished_at", text_or_null(run.finished_at)},
          {"calls", costs.calls},
          {"calls_from_record", costs.calls_from_record},
          {"prompt_tokens", costs.prompt_tokens},
          {"completion_tokens", costs.completion_tokens},
          {"dollars", number_or_null(costs.dollars)},
          {"calls_without_price", costs.calls_without_price},
          {"unconfirmed_calls", costs.unconfirmed_sendings},
          {"unconfirmed_tokens", costs.unconfirmed_tokens},
          {"unconfirmed_dollars", costs.unconfirmed_dollars}};
}

json candidate_json(const ExportedCandidate& candidate) {
  const CandidateRow& row = candidate.state.row;
  return {{"id", row.id},
          {"run", candidate.run},
          {"task", row.task},
          {"origin", row.origin},
          {"model", text_or_null(row.model)},
          {"call_key", text_or_null(row.call_key)},
          {"parent", row.parent_id == 0 ? json(nullptr) : json(row.parent_id)},
          {"created_at", row.created_at},
          {"digest", row.digest},
          {"dollars", number_or_null(row.dollars)},
          {"verdict", verdict_text(candidate.state)},
          {"rank", candidate.rank == 0 ? json(nullptr) : json(candidate.rank)},
          {"tied", candidate.rank == 0 ? json(nullptr) : json(candidate.is_tied)},
          {"unranked", candidate.unranked},
          {"kernel_file", has_kernel_file(candidate.state) ? json(row.text) : json(nullptr)},
          {"evaluation",
           candidate.state.best ? tasks::evaluation_json(*candidate.state.best) : json(nullptr)}};
}

std::string to_json_text(const ExportedRun& all) {
  json document{{"schema", "winnow.export"},   {"version", 1},
                {"runs", json::array()},       {"leaderboard", json::array()},
                {"baselines", json::array()},  {"verdict_counts", json::array()},
                {"candidates", json::array()}, {"held_out", json::array()}};
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
  for (const HeldOutResult& result : all.held_out) {
    document["held_out"].push_back(
        {{"task", result.task},
         {"device_name", result.device_name},
         {"candidate", result.candidate},
         {"verdict", to_string(result.verdict)},
         {"speedup", result.speedup > 0 ? json(result.speedup) : json(nullptr)},
         {"evaluator_version", result.evaluator_version},
         {"judged_at", result.judged_at}});
  }
  for (const ExportedCandidate& candidate : all.candidates) {
    document["candidates"].push_back(candidate_json(candidate));
  }
  return json_document(document);
}

TextTable verdict_table(const ExportedRun& all) {
  TextTable table;
  table.columns = {
      {"run", false}, {"task", false}, {"device", false}, {"verdict", false}, {"candidates", true}};
  for (const VerdictCount& count : all.verdicts) {
    table.rows.push_back(
        {count.run, count.task, count.device, count.verdict, fmt::format("{}", count.candidates)});
  }
  return table;
}

std::string number_or_nothing(double value) {
  return value > 0 ? fmt::format("{}", value) : "";
}

/// One row a candidate, with its kernel file in the last column.
TextTable candidate_table(const ExportedRun& all) {
  TextTable table;
  for (const char* heading :
       {"run",     "task",        "candidate",    "parent",       "origin",   "model",
        "verdict", "stage",       "rank",         "speedup",      "score_ns", "parameters",
        "device",  "device_name", "isolation",    "evaluated_at", "digest",   "dollars",
        "tied",    "speedup_low", "speedup_high", "unranked",     "detail",   "kernel_file"}) {
    table.columns.push_back({heading, false});
  }
  for (const ExportedCandidate& candidate : all.candidates) {
    const CandidateRow& row = candidate.state.row;
    const tasks::Evaluation found = candidate.state.best.value_or(tasks::Evaluation{});
    const std::string stage(candidate.state.best ? to_string(found.stage) : "");
    table.rows.push_back({candidate.run,
                          row.task,
                          fmt::format("{}", row.id),
                          row.parent_id == 0 ? "" : fmt::format("{}", row.parent_id),
                          row.origin,
                          row.model,
                          std::string(verdict_text(candidate.state)),
                          stage,
                          candidate.rank == 0 ? "" : fmt::format("{}", candidate.rank),
                          number_or_nothing(found.speedup),
                          number_or_nothing(found.score_ns),
                          json(found.parameters).dump(),
                          found.device,
                          found.device_name,
                          found.isolation,
                          found.started_at,
                          row.digest,
                          row.dollars ? fmt::format("{}", *row.dollars) : "",
                          candidate.rank == 0 ? ""
                          : candidate.is_tied ? "true"
                                              : "false",
                          number_or_nothing(found.speedup_bounds.low),
                          number_or_nothing(found.speedup_bounds.high),
                          candidate.unranked,
                          to_valid_utf8(found.detail),
                          has_kernel_file(candidate.state) ? to_valid_utf8(row.text) : ""});
  }
  return table;
}

/// A code block whose fence no line of `text` can close.
std::string code_block(const std::string& text) {
  std::size_t longest = 2;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  const std::string fence(longest + 1, '`');
  const bool ended = !text.empty() && text.back() == '\n';
  return fence + "cuda\n" + to_valid_utf8(text) + (ended ? "" : "\n") + fence + "\n";
}

std::string to_markdown_text(const ExportedRun& all) {
  constexpr std::size_t kColumnsBeforeFile = 23;
  TextTable candidates = candidate_table(all);
  candidates.columns.resize(kColumnsBeforeFile);
  for (auto& row : candidates.rows) {
    row.resize(kColumnsBeforeFile);
  }
  std::string text = "# Winnow export\n\n";
  text += format_leaderboard(all.leaderboard, Format::Markdown, all.baselines);
  text += "\n## Verdicts\n\n" + to_markdown(verdict_table(all));
  text += "\n## Candidates\n\n" + to_markdown(candidates);
  text += "\n## Kernel files of the leaderboard\n";
  for (const ExportedCandidate& candidate : all.candidates) {
    const RowId id = candidate.state.row.id;
    if (std::any_of(all.leaderboard.begin(), all.leaderboard.end(),
                    [&](const LeaderboardRow& row) { return row.candidate == id; })) {
      text += fmt::format("\n### Candidate {} ({})\n\n", id, candidate.state.row.task);
      text += code_block(candidate.state.row.text);
    }
  }
  return text;
}

} // namespace

std::string export_run(const RunStore& store, const LeaderboardQuery& query, Format format) {
  const ExportedRun all = collect(store, query);
  switch (format) {
  case Format::Json:
    return to_json_text(all);
  case Format::Csv:
    return to_csv(candidate_table(all));
  case Format::Markdown:
    return to_markdown_text(all);
  case Format::Table:
    break;
  }
  return format_leaderboard(all.leaderboard, Format::Table, all.baselines) + "\n" +
         to_aligned_text(verdict_table(all), 0);
}

} // namespace winnow::store
