#include "harness/run/run_report.h"

#include "base/text/number_text.h"
#include "base/text/shell_word.h"
#include "harness/config/duration.h"
#include "harness/report/board_report.h"
#include "harness/report/counted.h"
#include "harness/report/text_table.h"
#include "search/policy.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::int64_t kRowsShown = 5;

std::string spent_text(const Spend& spend) {
  if (spend.unpriced_calls > 0 && spend.unpriced_calls >= spend.calls) {
    return "price unknown";
  }
  std::string text = dollars_text(spend.dollars);
  if (spend.unpriced_calls > 0) {
    text += " and " + counted(spend.unpriced_calls, "call") + " of unknown price";
  } else if (spend.dollars > 0 && spend.calls > spend.calls_from_record) {
    text +=
        " (" +
        dollars_text(spend.dollars / static_cast<double>(spend.calls - spend.calls_from_record)) +
        " a call)";
  }
  return text;
}

/// Example: "12 calls (3 of them from the record), 34567 tokens, $0.0840 (...)".
std::string calls_text(const Spend& spend) {
  if (spend.calls == 0 && spend.tokens == 0) { // it is unknown whether calls have a price
    return spend.unconfirmed.requests > 0 ? "no answered calls" : "no calls";
  }
  std::string text = spend.calls == 0 ? "no answered calls" : counted(spend.calls, "call");
  if (spend.calls_from_record > 0) {
    text += fmt::format(" ({} of them from the record)", spend.calls_from_record);
  }
  const bool counts = spend.tokens > 0 || spend.calls == spend.calls_from_record;
  return text + ", " + (counts ? counted(spend.tokens, "token") : "tokens unknown") + ", " +
         spent_text(spend);
}

/// The cost and the time, and the cost that may be added later.
std::string spend_text(const RunOutcome& outcome) {
  const Spend& spend = outcome.spend;
  const std::string time = format_duration(outcome.elapsed);
  std::string text =
      outcome.was_finished
          ? fmt::format("the run is already finished, nothing is left to do ({}; {})\n",
                        calls_text(spend), time)
          : fmt::format("{}; {} in all\n", calls_text(spend), time);
  if (const agents::EstimatedCost& lost = spend.unconfirmed; lost.requests > 0) {
    text += fmt::format("estimated, on top of what was measured: {}{} of {} that the provider did "
                        "not count (broken, cut off, or answered without counts)\n",
                        lost.dollars > 0 ? dollars_text(lost.dollars) + " for " : "",
                        counted(lost.tokens, "token"), counted(lost.requests, "request"));
  }
  return text;
}

std::vector<std::string> earnings_row(const search::Earnings& earned) {
  return {earned.model,
          earned.op,
          std::to_string(earned.calls),
          std::to_string(earned.correct),
          number_text(earned.dollars, 4),
          number_text(earned.device_seconds, 1),
          "x" + number_text(std::exp(earned.log_gain)),
          std::to_string(earned.copies)};
}

TextTable table_of_earnings(const std::string& of, const std::vector<search::Earnings>& earnings) {
  TextTable table;
  table.columns = {
      {"model"},          {of},           {"calls", true}, {"correct", true}, {"dollars", true},
      {"device s", true}, {"gain", true}, {"copies", true}};
  for (const search::Earnings& earned : earnings) {
    table.rows.push_back(earnings_row(earned));
  }
  return table;
}

std::string earnings_text(TextTable table) {
  remove_empty_columns(table);
  return to_aligned_text(table, 0) + "\n";
}

} // namespace

ExitCode exit_code(RunOutcome::End end) {
  switch (end) {
  case RunOutcome::End::Finished:
    return ExitCode::Done;
  case RunOutcome::End::BudgetSpent:
  case RunOutcome::End::RecordingSpent:
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
  auto rows = store.leaderboard(query);
  const store::BoardFacts facts = store::board_facts(store, query, rows);
  return rows.empty() && facts.left_out.empty() ? store.why_nobody_is_ranked(query) + "\n"
                                                : format_leaderboard(rows, Format::Table, facts);
}

std::string earnings_table(const RunOutcome& outcome, const RunConfig& config) {
  const bool several =
      config.models.size() > 1 || search::preset(config.strategy).policy.is_archive();
  std::string text;
  if (!outcome.earnings.empty() && several) {
    TextTable table = table_of_earnings("operator", outcome.earnings);
    std::map<std::string, search::Earnings> of_models;
    for (const search::Earnings& earned : outcome.earnings) {
      of_models[earned.model] += earned;
    }
    for (auto& [model, earned] : of_models) {
      earned.op = "all";
      table.rows.push_back(earnings_row(earned));
    }
    text += earnings_text(std::move(table));
  }
  if (!outcome.earnings_of_missions.empty()) {
    std::vector<search::Earnings> of_missions = outcome.earnings_of_missions;
    for (search::Earnings& earned : of_missions) {
      earned.op = earned.op.empty() ? "none" : earned.op;
    }
    text += earnings_text(table_of_earnings("direction", of_missions));
  }
  return text;
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
    text += "failed: " + outcome.message +
            "\neverything is saved; solve the problem, then go on with: " + go_on + where;
    break;
  case RunOutcome::End::RecordingSpent:
    text += "stopped: " + outcome.message;
    text += config.models.empty()
                ? "\nto go on, ask a model: " + go_on + " --model PROVIDER/MODEL" + where
                : "\nto go on, start a run whose [[models]] can answer\n";
    break;
  case RunOutcome::End::Waiting:
    text +=
        outcome.message +
        "\nwhen you have the replies, go on with: winnow batch import REPLIES -o REQUESTS --run" +
        where;
    break;
  }
  return text + "all results: winnow leaderboard" + store + "\n";
}

} // namespace winnow::harness
