#include "base/text.h"
#include "base/text/number_text.h"
#include "harness/report/counted.h"
#include "harness/report/json_table.h"
#include "harness/suite/suite_scores.h"
#include "tasks/result/speedup.h"
#include "tasks/suite.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMaxFlags = 60; // bytes

/// A share from 0 to 1; null: "-".
std::string share_text(const json& share) {
  return share.is_null() ? "-" : number_text(share.get<double>());
}

/// A speedup; null: "-".
std::string times_text(const json& speedup) {
  return speedup.is_null() ? "-" : number_text(speedup.get<double>()) + "x";
}

/// US dollars.
std::string cost_text(const json& dollars) {
  return dollars.is_null() ? "unknown" : dollars_text(dollars.get<double>());
}

/// The cost of a row with the calls that have no price and with what was only estimated.
std::string costs_text(const json& row) {
  const bool lower_bound = row.at("calls_without_price") > 0 || row.at("estimated_tokens") > 0;
  const json& dollars = row.at("dollars");
  const double estimated = row.at("estimated_dollars").get<double>();
  return (lower_bound && !dollars.is_null() ? "at least " : "") + cost_text(dollars) +
         (estimated > 0 ? ", estimated " + dollars_text(estimated) + " more" : "");
}

std::string join(const json& texts, const std::string& between) {
  std::string text;
  for (const json& one : texts) {
    text += (text.empty() ? "" : between) + one.get<std::string>();
  }
  return text;
}

std::string bounds_text(const json& row) {
  return speedup_interval_text(bounds_at(row, "speedup"));
}

/// A score row with the folder's name, and its mark if some of its problems are scaled.
json with_folder(const json& folder, json row) {
  const auto name = folder.at("folder").get<std::string>();
  const bool scaled = folder.at("scaled").get<int>() > 0;
  row["folder"] = (name.empty() ? "." : name) + (scaled ? "*" : "");
  return row;
}

std::string reply_text(const json& row) {
  const bool without = row.at("without_flagged").get<bool>();
  return row.at("replies").get<std::string>() + (without ? ", unflagged" : "");
}

/// Adds the columns of fast_p and the speedup that stand below `path` in each row.
void add_fast_columns(const json& thresholds, const std::string& path,
                      std::vector<JsonColumn>& columns) {
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    columns.push_back({{fmt::format("fast_{:g}", thresholds[i].at("p").get<double>()), true},
                       fmt::format("{}fast/{}/share", path, i),
                       share_text});
  }
  columns.push_back({{"speedup", true}, path + "speedup", times_text});
}

/// The score rows of all folders in which `part` is known.
json score_rows(const json& run, const char* part) {
  json rows = json::array();
  for (const json& folder : run.at("folders")) {
    for (const json& score : folder.at("scores")) {
      if (!score.at(part).is_null()) {
        rows.push_back(with_folder(folder, score));
      }
    }
  }
  return rows;
}

TextTable score_table(const json& run) {
  std::vector<JsonColumn> columns{{{"folder"}, "folder"},
                                  {{"reply"}, "", reply_text},
                                  {{"problems", true}, "problems"},
                                  {{"compiled", true}, "compiled_share", share_text},
                                  {{"correct", true}, "correct_share", share_text}};
  const json rows = score_rows(run, "fast");
  add_fast_columns(rows.at(0).at("fast"), "", columns);
  columns.push_back({{"95 %, of times", true}, "", bounds_text});
  return json_table(rows, columns);
}

/// The same thresholds with another yardstick: a member of the scores. Empty: it has no times.
std::string versus_text(const json& run, const std::string& yardstick, std::string_view title) {
  std::vector<JsonColumn> columns{
      {{"folder"}, "folder"}, {{"reply"}, "", reply_text}, {{"timed", true}, yardstick + "/timed"}};
  const json rows = score_rows(run, yardstick.c_str());
  if (rows.empty()) {
    return "";
  }
  add_fast_columns(rows[0][yardstick]["fast"], yardstick + "/", columns);
  return fmt::format("against {}:\n{}", title, to_aligned_text(json_table(rows, columns), kIndent));
}

TextTable cost_table(const json& run) {
  std::vector<JsonColumn> columns{{{"folder"}, "folder"}};
  json rows = json::array();
  for (const json& folder : run.at("folders")) {
    json row = with_folder(folder, folder);
    for (const json& pass : folder.at("pass")) {
      const std::string name = fmt::format("pass@{}{}", pass.at("k").get<int>(),
                                           pass.at("without_flagged") ? ", unflagged" : "");
      row[name] = pass.at("share");
      const bool is_known = std::any_of(columns.begin(), columns.end(),
                                        [&](const auto& one) { return one.path == name; });
      if (!is_known) {
        columns.push_back({{name, true}, name, share_text});
      }
    }
    rows.push_back(std::move(row));
  }
  for (const char* name : {"flagged", "scaled", "calls"}) {
    columns.push_back({{name, true}, name});
  }
  const auto tokens = [](const json& count) { return count.is_null() ? "-" : count.dump(); };
  columns.push_back({{"prompt tokens", true}, "prompt_tokens", tokens});
  columns.push_back({{"reply tokens", true}, "completion_tokens", tokens});
  columns.push_back({{"device s", true}, "device_seconds", [](const json& seconds) {
                       return number_text(seconds.get<double>(), 1);
                     }});
  columns.push_back({{"cost", true}, "", costs_text});
  return json_table(rows, columns);
}

TextTable problem_table(const json& run) {
  const auto speedup = [](const json& value) { return value.is_null() ? "" : times_text(value); };
  return json_table(run.at("problems"), {{{"folder"}, "folder"},
                                         {{"problem"}, "task"},
                                         {{"calls", true}, "calls"},
                                         {{"correct", true}, "correct"},
                                         {{"proficiency", true}, "proficiency"},
                                         {{"first"}, "first/verdict"},
                                         {{"speedup", true}, "first/speedup", speedup},
                                         {{"best"}, "best/verdict"},
                                         {{"speedup", true}, "best/speedup", speedup},
                                         {{"vs best", true}, "best/speedup_versus_best", speedup},
                                         {{"best alternative"}, "best/best_alternative"},
                                         {{"candidate", true}, "best/candidate_id"},
                                         {{"flags"}, "flags", [](const json& flags) {
                                            return truncate_text(join(flags, "; "), kMaxFlags);
                                          }}});
}

/// What may make the numbers of the run other than they seem.
std::string notes_text(const json& run) {
  const json& whole = run.at("folders").back();
  const json& first = whole.at("scores").at(0);
  const auto unasked = whole.at("problems").get<int>() - first.at("answered").get<int>();
  std::string text;
  if (whole.at("scaled").get<int>() > 0) {
    text += fmt::format("  *: with {} whose sizes are smaller than the benchmark's (scaled)\n",
                        counted(whole.at("scaled").get<int>(), "problem"));
  }
  if (unasked > 0) {
    text += fmt::format("  problems without a reply: {}; they count as wrong (the run: {})\n",
                        unasked, run.at("status").get<std::string>());
  }
  if (const int unjudged = whole.at("not_judged").get<int>(); unjudged > 0) {
    text += fmt::format("  replies that were not judged: {}; they count as wrong\n", unjudged);
  }
  if (run.at("has_given_seed").get<bool>()) {
    text += "  evaluation.seed was set: all kernels saw the same inputs\n";
  }
  return text;
}

std::string run_text(const json& run, bool problems) {
  std::string text = fmt::format(
      "run {} ({}{}){}{}, {} and {} a problem\n", run.at("run").get<std::string>(),
      join(run.at("models"), ", "),
      run.at("distinction") == "" ? "" : "; " + run.at("distinction").get<std::string>(),
      run.at("device_names").empty() ? "" : " on ", join(run.at("device_names"), ", "),
      run.at("strategy").get<std::string>(),
      counted(run.at("calls_per_problem").get<int>(), "call"));
  text += to_aligned_text(score_table(run), kIndent) + notes_text(run);
  text += versus_text(run, "versus_best", "the best alternative");
  text += versus_text(run, "versus_torch_compile", "torch.compile");
  text += "costs:\n" + to_aligned_text(cost_table(run), kIndent);
  if (problems) {
    text += "problems:\n" + to_aligned_text(problem_table(run), kIndent);
  }
  return text;
}

} // namespace

std::string suite_text(const json& document, bool problems) {
  std::string text = fmt::format(
      "suite {}: speedups are against {}\n"
      "fast_p: the share of all problems whose kernel is correct and more than p times as fast; "
      "speedup: the geometric mean of the correct kernels; 95 %, of times: how sure the times of "
      "these kernels are, which says nothing about other problems\n",
      document.at("suite").get<std::string>(), join(document.at("speedup_versus"), " or "));
  for (const json& run : document.at("runs")) {
    text += "\n" + run_text(run, problems);
  }
  if (document.at("runs").empty()) {
    return text +
           "no run of this store has asked for a kernel of this suite as its tasks are now\n";
  }
  return text + "\n" + comparison_text(document.at("comparison"));
}

namespace {

/// "0.83 (0.50-1.00)", "1.50x (1.20-1.90)"; null: "-".
std::string mean_text(const json& mean, const std::string& unit) {
  if (mean.at("value").is_null()) {
    return "-";
  }
  const auto number = [&](const char* name) { return number_text(mean.at(name).get<double>()); };
  return number("value") + unit +
         (mean.at("low").is_null() ? "" : fmt::format(" ({}-{})", number("low"), number("high")));
}

std::string mean_share(const json& mean) {
  return mean_text(mean, "");
}

std::string mean_times(const json& mean) {
  return mean_text(mean, "x");
}

/// "=2": another row has this rank, too.
std::string rank_text(const json& mean) {
  return mean.at("rank").is_null() ? "-"
                                   : fmt::format("{}{}", mean.at("tied").get<bool>() ? "=" : "",
                                                 mean.at("rank").get<std::int64_t>());
}

/// The label, and the state of a run that is not finished.
std::string row_name(const json& row) {
  const auto status = row.at("status").get<std::string>();
  return row.at("label").get<std::string>() + (status == "finished" ? "" : " (" + status + ")");
}

/// Recordings may tell neither tokens nor prices.
std::string tokens_text(const json& row) {
  return row.at("prompt_tokens").is_null()
             ? "unknown"
             : std::to_string(row.at("prompt_tokens").get<std::int64_t>() +
                              row.at("completion_tokens").get<std::int64_t>());
}

TextTable comparison_table(const json& rows) {
  TextTable table =
      json_table(rows, {{{"model, strategy"}, "", row_name},
                        {{"run"}, "run"},
                        {{"correct", true}, "correct", mean_share},
                        {{"rank", true}, "correct", rank_text},
                        {{"speedup", true}, "speedup", mean_times},
                        {{"rank", true}, "speedup", rank_text},
                        {{"fast_1", true}, "fast_1", mean_share},
                        {{"fast_2", true}, "fast_2", mean_share},
                        {{"pass@1", true}, "pass_at_1", mean_share},
                        {{"pass@5", true}, "pass_at_5", mean_share},
                        {{"pass@10", true}, "pass_at_10", mean_share},
                        {{"proficiency", true}, "proficiency", mean_share},
                        {{"calls", true}, "calls"},
                        {{"tokens", true}, "", tokens_text},
                        {{"cost", true}, "dollars", cost_text},
                        {{"device s", true}, "device_seconds", [](const json& seconds) {
                           return number_text(seconds.get<double>(), 1);
                         }}});
  table.splits = true;
  return table;
}

} // namespace

std::string comparison_text(const json& comparison) {
  const json& rows = comparison.at("rows");
  if (rows.empty()) {
    return {};
  }
  const auto problems = comparison.at("problems").get<std::int64_t>();
  const auto flagged = comparison.at("flagged").get<std::int64_t>();
  std::string text = "comparison at " + counted(problems, "problem");
  if (flagged > 0) {
    text += fmt::format(" ({} with a flag left out)", counted(flagged, "problem"));
  }
  text += ": the best reply for each problem; (95 % interval, bootstrap over the problems)\n"
          "rank: 1 + the number of rows that are surely better (p < 0.05); =: a tie\n" +
          to_aligned_text(comparison_table(rows), kIndent);
  for (const json& note : comparison.at("notes")) {
    text += std::string(kIndent, ' ') + note.get<std::string>() + '\n';
  }
  return text;
}

} // namespace winnow::harness
