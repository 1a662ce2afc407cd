#include "base/text.h"
#include "harness/report/board_report.h"
#include "harness/report/json_table.h"
#include "tasks/result/speedup.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kShownDigest = 8;
constexpr std::size_t kMaxReasonBytes = 160;

/// A code block with a fence that is longer than any run of backticks in `text`.
std::string code_block(const std::string& text) {
  std::size_t longest = 2;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  const std::string fence(longest + 1, '`');
  const bool ended = !text.empty() && text.back() == '\n';
  return fence + "cuda\n" + visible(text) + (ended ? "" : "\n") + fence + "\n";
}

std::string runs_table(const json& runs) {
  const auto tokens = [](const json& run) {
    const bool is_unknown =
        number_at(run, "calls") > 0 && !(number_at(run, "completion_tokens") > 0);
    return is_unknown ? std::string("unknown")
                      : fmt::format("{:.0f}", number_at(run, "prompt_tokens") +
                                                  number_at(run, "completion_tokens"));
  };
  const auto dollars = [](const json& value) {
    return value.is_null() ? "unknown" : dollars_text(value.get<double>());
  };
  return to_markdown(json_table(runs, {{{"run"}, "run"},
                                       {{"status"}, "status"},
                                       {{"started"}, "started_at"},
                                       {{"calls", true}, "calls"},
                                       {{"tokens", true}, "", tokens},
                                       {{"dollars", true}, "dollars", dollars}}));
}

std::string verdicts_table(const json& counts) {
  return to_markdown(json_table(counts, {{{"run"}, "run"},
                                         {{"task"}, "task"},
                                         {{"device"}, "device"},
                                         {{"verdict"}, "verdict"},
                                         {{"candidates", true}, "candidates"}}));
}

std::string place_text(const json& candidate) {
  return (candidate.at("tied") == true ? "=" : "") + text_at(candidate, "rank");
}

/// As on the board, so that a rank stands beside the number that it rests on.
std::string placed_speedup_text(const json& candidate) {
  const json& place = candidate.at("board");
  const json& from = place.is_null() ? candidate.at("evaluation") : place;
  const std::string speedup = speedup_text(number_at(from, "speedup"), bounds_at(from, "speedup"));
  const std::string versus = text_at(candidate, "evaluation/speedup_versus");
  return speedup + (speedup.empty() || versus.empty() ? "" : " over " + versus);
}

/// Why the candidate is not correct, or why it has no rank.
std::string reason_text(const json& candidate) {
  const bool correct = candidate.at("verdict") == "correct";
  return truncate_text(on_one_line(text_at(candidate, correct ? "unranked" : "evaluation/detail")),
                       kMaxReasonBytes);
}

std::string candidates_table(const json& candidates) {
  const auto short_digest = [](const json& digest) {
    return digest.get<std::string>().substr(0, kShownDigest);
  };
  return to_markdown(json_table(candidates, {{{"run"}, "run"},
                                             {{"task"}, "task"},
                                             {{"candidate", true}, "candidate_id"},
                                             {{"parent", true}, "parent_id"},
                                             {{"by"}, "author"},
                                             {{"verdict"}, "verdict"},
                                             {{"rank", true}, "", place_text},
                                             {{"speedup", true}, "", placed_speedup_text},
                                             {{"file"}, "digest", short_digest},
                                             {{"why"}, "", reason_text}}));
}

} // namespace

std::string export_markdown(const json& document) {
  std::string text = "# Winnow export\n\n" + runs_table(document.at("runs")) + "\n";
  const json& board = document.at("leaderboard");
  text += board_text({{"rows", board},
                      {"baselines", document.at("baselines")},
                      {"gpu_spreads", document.at("gpu_spreads")},
                      {"summaries", document.at("summaries")},
                      {"not_ranked", document.at("not_ranked")}},
                     Format::Markdown, 0);
  text += "\n## Verdicts\n\n" + verdicts_table(document.at("verdict_counts"));
  text += "\n## Candidates\n\n" + candidates_table(document.at("candidates"));
  text += "\n## Kernel files of the leaderboard\n";
  for (const json& candidate : document.at("candidates")) {
    const json& id = candidate.at("candidate_id");
    if (std::any_of(board.begin(), board.end(),
                    [&](const json& row) { return row.at("candidate_id") == id; })) {
      text += fmt::format("\n### Candidate {} ({})\n\n", id.get<store::RowId>(),
                          markdown_text(text_at(candidate, "task")));
      text += code_block(text_at(candidate, "kernel_file"));
    }
  }
  return text;
}

} // namespace winnow::harness
