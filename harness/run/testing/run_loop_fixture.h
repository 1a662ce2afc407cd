#pragma once

#include "base/files.h"
#include "harness/run/run_loop.h"
#include "harness/run/testing/loop_fake.h"
#include "store/testing/new_store.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness::test {

/// Thrown from a write, to stop a run where a process might be killed.
class Crash : public std::runtime_error {
public:
  Crash() : std::runtime_error("crash") {}
};

/// Runs of two tasks in one store.
class RunLoopTest : public testing::Test {
protected:
  RunLoopTest() : directory_("run-loop-test") {
    config_.proposals = 3;
    config_.endpoint.kind = "fake";
    config_.endpoint.model = "double";
  }

  std::filesystem::path store_path() const { return directory_.path() / "store.db"; }

  /// One session: opens the store, creates or finds the run, and drives it.
  RunOutcome session(agents::ModelEndpoint& endpoint, const std::function<void()>& after_write = {},
                     const std::function<void(RunLoop&)>& with_loop = {}) {
    return session(std::vector<RunModel>{{"", config_.endpoint, endpoint, price_}}, after_write,
                   with_loop);
  }
  RunOutcome session(const std::vector<RunModel>& models,
                     const std::function<void()>& after_write = {},
                     const std::function<void(RunLoop&)>& with_loop = {}) {
    store::testing::put_new_store(store_path());
    store::RunStore store(store_path(), store::RunStore::Mode::ReadWrite);
    if (!store.find_run(run_name_)) {
      store.create_run(run_name_, nlohmann::json::object(), nlohmann::json::object());
    }
    const store::RowId run = store.find_run(run_name_)->id;
    store.after_each_write(after_write);
    Journal journal(store, run);
    std::ostringstream progress_text;
    Progress progress(progress_text, false, 80);
    RunLoop loop({.config = config_,
                  .tasks = tasks_,
                  .facts = {},
                  .device_kind = "cpu",
                  .device_name = "double",
                  .journal = journal,
                  .models = models,
                  .prompts = prompt_,
                  .evaluations = evaluations_ ? evaluations_ : test::on_lane(lane_),
                  .progress = progress,
                  .is_finished = store.find_run(run_name_)->status == "finished",
                  .elapsed_before = elapsed_before(store.events(run)),
                  .now = now_});
    if (with_loop) {
      with_loop(loop);
    }
    RunOutcome outcome = loop.run();
    said_ = progress_text.str();
    return outcome;
  }

  /// One session that stops after its write number `write`, or ends before that write. Returns
  /// whether it was stopped. A run on a busy machine stores more with each write, and makes fewer.
  bool crash_after(std::int64_t write, agents::ModelEndpoint& endpoint) {
    try {
      session(endpoint, [&write] {
        if (--write == 0) {
          throw Crash();
        }
      });
    } catch (const Crash&) {
      return true;
    }
    return false;
  }

  /// A short form of everything that a prompt may depend on.
  static std::vector<agents::Message> prompt(const agents::ProposalContext& context) {
    std::string text =
        fmt::format("{} best {} previous {} of {}", context.task->name,
                    context.best ? context.best->number : -1,
                    context.previous ? context.previous->number : -1, context.history.size());
    for (const auto& [name, part] :
         {std::pair{"advice", context.advice},
          {"guide", context.guide},
          {"record", context.record},
          {"lessons", fmt::format("{}", fmt::join(context.lessons, "\n"))},
          {"exemplar", context.exemplar ? context.exemplar->name : ""},
          {"facts", fmt::format("{}", fmt::join(context.evidence, "\n"))},
          {"versions", fmt::format("{}", fmt::join(context.versions, "\n"))}}) {
      text += part.empty() ? "" : fmt::format("\n{}: {}", name, part);
    }
    return {{"user", text}};
  }

  /// Everything in which a resumed run must equal a run that was never stopped.
  std::string account() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    const auto run = store.find_run(run_name_);
    std::map<store::RowId, std::string> names;
    std::vector<std::string> lines{"status " + run->status};
    store::LeaderboardQuery everything;
    everything.run = run_name_;
    everything.top = 0;
    for (const store::CandidateState& candidate : store.candidates(run->id)) {
      const store::CandidateRow& row = candidate.row;
      names[row.id] = row.task + ":" + row.call_key;
      lines.push_back(fmt::format("{} {} parent {} {} {}", names[row.id], row.origin,
                                  names[row.parent_id], row.digest, verdict_of(candidate)));
    }
    for (const store::ModelCallRow& call : store.finished_calls(run->id)) {
      lines.push_back(call.key + " " + call.request + " " + call.text);
    }
    for (const store::LeaderboardRow& row : store.leaderboard(everything)) {
      lines.push_back(fmt::format("{} {} {} {}", row.task, row.rank, row.digest, row.speedup));
    }
    std::sort(lines.begin(), lines.end());
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }

  /// The verdict, the decision about the candidate, and its rival.
  static std::string verdict_of(const store::CandidateState& candidate) {
    if (!candidate.best) {
      return "not judged";
    }
    const tasks::Evaluation& evaluation = *candidate.best;
    return fmt::format("{} {} {}promoted, raced against {}", to_string(evaluation.verdict),
                       evaluation.speedup, evaluation.promoted ? "" : "not ",
                       evaluation.race ? evaluation.race->rival : "nobody");
  }

  /// Applies the log of each task's search to a new search and compares every decision in the log
  /// with what that search decides there. Returns the number of decisions.
  int recompute_decisions() const {
    store::RunStore store(store_path(), store::RunStore::Mode::ReadWrite);
    const Journal journal(store, store.find_run(run_name_)->id);
    int decisions = 0;
    for (const tasks::Task& task : tasks_) {
      const auto search = search::make_search(config_.strategy, search_settings(config_, task));
      for (const search::Event& event : journal.search_events(store.add_task(task))) {
        if (const auto* decided = std::get_if<search::Decided>(&event)) {
          const auto action = search->decide(decided->capacity);
          EXPECT_TRUE(action && *action == decided->action) << search::entry_of(event).detail;
          ++decisions;
        }
        search->apply(event);
      }
    }
    return decisions;
  }

  std::set<std::string> recorded_keys() const {
    std::set<std::string> keys;
    if (std::filesystem::exists(store_path())) {
      const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
      if (const auto run = store.find_run(run_name_)) {
        for (const store::ModelCallRow& call : store.finished_calls(run->id)) {
          keys.insert(call.key);
        }
      }
    }
    return keys;
  }

  std::string status() const {
    return store::RunStore(store_path(), store::RunStore::Mode::ReadOnly)
        .find_run(run_name_)
        ->status;
  }

  void forget() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(store_path().string() + suffix);
    }
  }

  TemporaryDirectory directory_;
  RunConfig config_;
  std::string run_name_ = "run";
  std::string said_; ///< the progress lines of the last session that ended
  std::optional<agents::Price> price_;
  std::vector<tasks::Task> tasks_{test::small_task("a"), test::small_task("b")};
  std::function<std::unique_ptr<evaluators::Lane>()> lane_ = [] {
    return std::make_unique<test::FakeLane>();
  };
  evaluators::EvaluationsFactory evaluations_; ///< empty: on lane_
  std::function<std::vector<agents::Message>(const agents::ProposalContext&)> prompt_ = prompt;
  std::function<std::chrono::steady_clock::time_point()> now_ = std::chrono::steady_clock::now;
};

} // namespace winnow::harness::test
