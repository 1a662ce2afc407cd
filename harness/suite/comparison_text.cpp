#include "harness/report/counted.h"
#include "harness/report/json_table.h"
#include "harness/suite/suite_cells.h"
#include "harness/suite/suite_comparison.h"

namespace winnow::harness {
namespace {

using nlohmann::json;

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
  constexpr std::size_t kIndent = 2;
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
