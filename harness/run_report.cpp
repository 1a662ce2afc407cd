#include "harness/run_report.h"

#include "harness/duration.h"
#include "store/export.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::int64_t kRowsShown = 5;

std::string dollars_text(const Spend& spend) {
  if (spend.calls > 0 && spend.unpriced_calls == spend.calls) {
    return "price unknown";
  }
  std::string text = fmt::format("${:.4f}", spend.dollars);
  if (spend.unpriced_calls > 0) {
    text += fmt::format(" and {} calls of unknown price", spend.unpriced_calls);
  } else if (spend.dollars > 0) {
    text += fmt::format(" (${:.4f} a call)",
                        spend.dollars / static_cast<double>(spend.calls - spend.calls_from_record));
  }
  return text;
}

/// "12 calls (3 of them from the record), 34567 tokens, $0.0840 (...); 2 min in all", and what may
/// come on top.
std::string spend_text(const RunOutcome& outcome) {
  const Spend& spend = outcome.spend;
  std::string text = fmt::format("{} calls", spend.calls);
  if (spend.calls_from_record > 0) {
    text += fmt::format(" ({} of them from the record)", spend.calls_from_record);
  }
  text += fmt::format(", {} tokens, {}; {} in all\n", spend.tokens, dollars_text(spend),
                      format_duration(outcome.elapsed));
  if (const Unconfirmed& lost = spend.unconfirmed; lost.calls > 0) {
    text +=
        fmt::format("{} {} cut off; if billed, up to {}{} tokens more\n", lost.calls,
                    lost.calls == 1 ? "call was" : "calls were",
                    lost.dollars > 0 ? fmt::format("${:.4f} for ", lost.dollars) : "", lost.tokens);
  }
  return text;
}

} // namespace

ExitCode exit_code(RunOutcome::End end) {
  switch (end) {
  case RunOutcome::End::Finished:
    return ExitCode::Done;
  case RunOutcome::End::BudgetSpent:
    return ExitCode::BudgetSpent;
  case RunOutcome::End::Interrupted:
    return ExitCode::Interrupted;
  case RunOutcome::End::Failed:
    return ExitCode::Failure;
  case RunOutcome::End::Waiting:
    return ExitCode::Done;
  }
  return ExitCode::Failure;
}

std::string run_leaderboard(const store::RunStore& store, const std::string& run) {
  store::LeaderboardQuery query;
  query.run = run;
  query.top = kRowsShown;
  const auto rows = store.leaderboard(query);
  return rows.empty() ? "no correct kernel yet\n"
                      : store::format_leaderboard(rows, store::Format::Table,
                                                  store.baseline_standings(rows));
}

std::string run_summary(const RunOutcome& outcome, const RunConfig& config, const std::string& run,
                        const std::string& go_on) {
  const std::string store = " --store " + shell_word(config.store);
  const std::string where = " " + shell_word(run) + store + "\n";
  std::string text = spend_text(outcome);
  switch (outcome.end) {
  case RunOutcome::End::Finished:
    break;
  case RunOutcome::End::BudgetSpent:
    text += "stopped: " + outcome.message +
            "\nto go on, raise the limit (--max-... or --set): " + go_on + where;
    break;
  case RunOutcome::End::Interrupted:
    text += "interrupted, everything is saved; to go on: " + go_on + where;
    break;
  case RunOutcome::End::Failed:
    text += "failed: " + outcome.message + "\neverything is saved; once that is mended: " + go_on +
            where;
    break;
  case RunOutcome::End::Waiting:
    text += outcome.message +
            "\nonce they are there: winnow batch import REPLIES -o REQUESTS --run" + where;
    break;
  }
  return text + "all results: winnow leaderboard" + store + "\n";
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./+:@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

} // namespace winnow::harness
