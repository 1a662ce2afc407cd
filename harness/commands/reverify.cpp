#include "base/error.h"
#include "base/text.h"
#include "base/text/number_text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/ordered_results.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/board_report.h"
#include "harness/report/terminal.h"
#include "harness/run/final_sitting.h"
#include "harness/run/session.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <atomic>
#include <iostream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Verdict;

constexpr std::int64_t kFinalists = 8;

struct ReverifyCommand {
  std::string store;
  store::LeaderboardQuery query{.task = "", .device = "", .run = "", .top = kFinalists};
  evaluators::EvaluationOptions options;
  BrokerOptions broker;
};

/// Judges again each leaderboard entry that comes from another evaluator or from another revision
/// of its task, with the parameters of the entry. Then holds a final for the leaders of each task.
class Reverification {
public:
  Reverification(store::RunStore& store, const ReverifyCommand& command)
      : store_(store), options_(command.options),
        devices_(open_devices(options_, options_.run_timeout, command.broker)),
        evaluations_(devices_->factory()),
        final_(store, evaluations_.evaluations(), devices_->first(), options_) {}

  const evaluators::DeviceReport& device() const { return devices_->first(); }
  void cancel() {
    cancelled_ = true;
    final_.cancel();
    evaluations_.interrupt();
  }

  void check(const store::LeaderboardRow& row) {
    const std::string& digest = open(row.task)->digest;
    if (row.comparable && row.evaluator_version == evaluators::kEvaluatorVersion &&
        row.task_digest == digest && row.device_name == device().name) {
      return; // the entry is current: only the final judges it
    }
    if (row.device_name != device().name) {
      std::cout << fmt::format(
          "{} candidate {}: left out: the candidate was measured on {}, but this device is {}\n",
          row.task, row.candidate_id, row.device_name, device().name);
      return;
    }
    const tasks::Evaluation now = judge_again(row);
    if (cancelled_) {
      return;
    }
    print(row, now);
    failed_ = failed_ || now.verdict == Verdict::Infrastructure;
    fallen_ = fallen_ || now.verdict != Verdict::Correct;
    if (now.verdict != Verdict::Infrastructure) {
      keep(row, now);
    }
  }

  void hold_final(const store::LeaderboardQuery& query) {
    std::vector<tasks::Task> tasks;
    for (const auto& [name, task] : tasks_) {
      tasks.push_back(*task);
    }
    const auto run = store_.find_run(query.run);
    Progress progress(std::cerr, stderr_is_terminal(), terminal_columns());
    final_.sit(
        tasks, query.top, run ? std::optional(run->id) : std::nullopt,
        [](const std::string& line) { std::cout << line << std::endl; }, progress);
    failed_ = failed_ || final_.any_failed();
    fallen_ = fallen_ || final_.any_fallen();
  }

  ExitCode exit_code() const {
    return cancelled_ ? ExitCode::Interrupted
           : failed_  ? ExitCode::Failure
           : fallen_  ? ExitCode::NotCorrect
                      : ExitCode::Done;
  }
  bool cancelled() const { return cancelled_; }

private:
  const std::shared_ptr<const tasks::Task>& open(const std::string& name) {
    std::shared_ptr<const tasks::Task>& found = tasks_[name];
    if (!found) {
      found = std::make_shared<const tasks::Task>(task_of_store(store_, name));
    }
    return found;
  }

  tasks::Evaluation judge_again(const store::LeaderboardRow& row) {
    evaluators::EvaluationRequest request;
    request.task = open(row.task);
    request.text = store_.candidate(row.candidate_id).text;
    request.file_name = fmt::format("candidate-{}.cu", row.candidate_id);
    request.choices = {nlohmann::json::parse(row.parameters).get<tasks::ParameterChoice>()};
    request.protocol = options_;
    return evaluation_of(evaluations_.evaluate(std::move(request)));
  }

  /// A changed task has a new board, so the kernel is added to that board.
  void keep(const store::LeaderboardRow& row, const tasks::Evaluation& now) {
    const tasks::Task& task = *open(row.task);
    if (task.digest == row.task_digest) {
      store_.supersede_evaluation(row.candidate_id, now);
      return;
    }
    store::CandidateRow again = store_.candidate(row.candidate_id);
    again.parent_id = row.candidate_id;
    const store::RowId candidate = store_.add_candidate(row.run_id, store_.add_task(task), again);
    store_.supersede_evaluation(candidate, now);
  }

  static void print(const store::LeaderboardRow& row, const tasks::Evaluation& now) {
    const std::string rank =
        row.rank > 0 ? fmt::format("rank {}", row.rank) : "not ranked (" + row.unranked + ")";
    std::string line = fmt::format("{} {} candidate {}: was correct, {}x (evaluator {}); is now {}",
                                   row.task, rank, row.candidate_id, number_text(row.speedup),
                                   row.evaluator_version, to_string(now.verdict));
    line +=
        now.verdict == Verdict::Correct
            ? fmt::format(", {}x (evaluator {})", number_text(now.speedup), now.evaluator_version)
            : ": " + truncate_text(now.detail, 400);
    std::cout << line << std::endl;
  }

  store::RunStore& store_;
  evaluators::EvaluationOptions options_;
  std::unique_ptr<evaluators::DevicePool> devices_;
  evaluators::OneByOne evaluations_;
  FinalSitting final_;
  std::map<std::string, std::shared_ptr<const tasks::Task>> tasks_;
  std::atomic<bool> cancelled_{false};
  bool failed_ = false;
  bool fallen_ = false;
};

ExitCode reverify(const ReverifyCommand& command) {
  Interrupt interrupt; // before any other thread starts
  store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadWrite);
  store::LeaderboardQuery query = command.query;
  query.run = only_run(store, query.run);
  store.require_known(query); // before a device is opened
  if (command.broker.url.empty()) {
    check_isolation(command.options);
  }
  Reverification verification(store, command);
  const OnInterrupt stop(interrupt, [&] { verification.cancel(); });
  query.device = verification.device().kind;
  const std::vector<store::LeaderboardRow> rows = store.leaderboard(query);
  if (rows.empty()) {
    std::cerr << query.device << ": " << store.why_nobody_is_ranked(query) << '\n';
  }
  for (const store::LeaderboardRow& row : rows) {
    if (!verification.cancelled()) {
      verification.check(row);
    }
  }
  verification.hold_final(query);
  if (verification.cancelled()) {
    std::cerr << "interrupted; what was judged before is stored\n";
  }
  std::vector<store::LeaderboardRow> now = store.leaderboard(query);
  const store::BoardFacts facts = store::board_facts(store, query, now);
  std::cout << format_leaderboard(now, Format::Table, facts);
  return verification.exit_code();
}

} // namespace

void add_reverify(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "reverify",
                  "Hold a new final: time the leaders of the leaderboards against each other and "
                  "judge them on held-out shapes. If a leader has its verdict from an older "
                  "evaluator or another revision of the task, judge the leader again before the "
                  "final and keep the old verdict as evidence",
                  reverify);
  command.options.reuse = false;
  sub.add_option("--store", command.store, kStoreHelp);
  add_query_options(sub, command.query);
  sub.remove_option(sub.get_option("--device"));
  sub.add_option("--top", command.query.top, "leaders of each task; 0: all")
      ->check(at_least_zero());
  sub.add_option("--device", command.options.device,
                 "best, " + tasks::device_words(" or ") + "; rows of another device are left out");
  add_duration(sub, "--time-budget", command.options.time_budget, kTimeBudgetHelp);
  add_isolation_option(sub, command.options.require_isolation);
  add_broker_options(sub, command.broker);
}

} // namespace winnow::harness
