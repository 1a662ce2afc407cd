#include "base/text.h"
#include "store/export.h"
#include "store/export_data.h"
#include "store/text_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::store {
namespace {

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
  return fence + "cuda\n" + to_valid_utf8(text) + (ended ? "" : "\n") + fence + "\n";
}

std::string times_text(double speedup) {
  return speedup > 0 ? fmt::format("{:.2f}x", speedup) : "";
}

TextTable run_table(const ExportedRun& all) {
  TextTable table;
  table.columns = {{"run"},         {"status"},       {"started"},
                   {"calls", true}, {"tokens", true}, {"dollars", true}};
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const RunCosts& costs = all.costs[i];
    table.rows.push_back({all.runs[i].name, all.runs[i].status, all.runs[i].started_at,
                          std::to_string(costs.calls),
                          std::to_string(costs.prompt_tokens + costs.completion_tokens),
                          costs.dollars ? fmt::format("{:.4f}", *costs.dollars) : "unknown"});
  }
  return table;
}

TextTable verdict_table(const ExportedRun& all) {
  TextTable table;
  table.columns = {{"run"}, {"task"}, {"device"}, {"verdict"}, {"candidates", true}};
  for (const VerdictCount& count : all.verdicts) {
    table.rows.push_back(
        {count.run, count.task, count.device, count.verdict, std::to_string(count.candidates)});
  }
  return table;
}

std::string place_text(const ExportedCandidate& candidate) {
  return candidate.rank == 0 ? ""
                             : fmt::format("{}{}", candidate.is_tied ? "=" : "", candidate.rank);
}

/// Why the candidate is not correct, or why it has no rank.
std::string reason_text(const ExportedCandidate& candidate, const tasks::Evaluation& found) {
  const bool correct = found.verdict == tasks::Verdict::Correct;
  return truncate_text(on_one_line(correct ? candidate.unranked : found.detail), kMaxReasonBytes);
}

TextTable candidate_table(const ExportedRun& all) {
  TextTable table;
  table.columns = {{"run"},     {"task"},       {"candidate", true}, {"parent", true}, {"by"},
                   {"verdict"}, {"rank", true}, {"speedup", true},   {"file"},         {"why"}};
  for (const ExportedCandidate& candidate : all.candidates) {
    const CandidateRow& row = candidate.state.row;
    const tasks::Evaluation found = candidate.state.best.value_or(tasks::Evaluation{});
    table.rows.push_back({candidate.run, row.task, std::to_string(row.id),
                          row.parent_id == 0 ? "" : std::to_string(row.parent_id),
                          row.model.empty() ? row.origin : row.model,
                          std::string(verdict_text(candidate.state)), place_text(candidate),
                          times_text(found.speedup), row.digest.substr(0, kShownDigest),
                          reason_text(candidate, found)});
  }
  return table;
}

} // namespace

std::string export_markdown(const ExportedRun& all) {
  std::string text = "# Winnow export\n\n" + to_markdown(run_table(all)) + "\n";
  text += format_leaderboard(all.leaderboard, Format::Markdown, all.baselines);
  text += "\n## Verdicts\n\n" + to_markdown(verdict_table(all));
  text += "\n## Candidates\n\n" + to_markdown(candidate_table(all));
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

} // namespace winnow::store
