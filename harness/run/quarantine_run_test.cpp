// Runs at whose workers one lies and is found out.
#include "harness/run/testing/run_loop_fixture.h"
#include "search/policy.h"
#include "store/worker_evaluations.h"

#include <atomic>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::HasSubstr;
using End = RunOutcome::End;

constexpr double kLie = 100; ///< no honest speedup is so high

/// What the coordinator knows of its two workers.
struct Workers {
  std::atomic<int> results{0};
  std::atomic<bool> is_found_out{false};
  int found_out_after = 0; ///< results of the liar; 0: another coordinator has found out
};

/// Every second result is the liar's, until the coordinator has found out.
class TwoWorkersLane : public test::FakeLane {
public:
  explicit TwoWorkersLane(Workers& workers) : workers_(workers) {}
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    std::vector<tasks::Evaluation> made = FakeLane::evaluate(request, stop);
    const bool lies = workers_.results++ % 2 == 1 && !workers_.is_found_out;
    for (tasks::Evaluation& evaluation : made) {
      evaluation.worker = lies ? "liar" : "honest";
      if (lies && evaluation.verdict == tasks::Verdict::Correct) {
        evaluation.speedup = evaluation.hidden_speedup = kLie + workers_.results;
        evaluation.speedup_bounds = {kLie, 2 * kLie};
        evaluation.race.reset();
      }
    }
    return made;
  }

private:
  Workers& workers_;
};

/// Quarantines the liar as evaluations at a broker do.
class WatchedEvaluations : public evaluators::Evaluations {
public:
  WatchedEvaluations(Workers& workers, evaluators::TakeResult done)
      : workers_(workers), done_(std::move(done)), inner_(test::on_lane([&] {
          return std::make_unique<TwoWorkersLane>(workers_);
        })([this](evaluators::EvaluationResult result) { pass_on(std::move(result)); })) {}

  void submit(evaluators::EvaluationRequest request) override {
    inner_->submit(std::move(request));
  }
  void cancel(const std::string& id) override { inner_->cancel(id); }
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request,
                                 const std::stop_token& stop,
                                 const evaluators::HoldProgress& progress) override {
    return inner_->hold(request, stop, progress);
  }
  void watch_quarantines(evaluators::TakeQuarantine take) override {
    take_ = std::move(take);
    if (workers_.is_found_out) {
      take_("liar");
    }
  }
  void stop() override { inner_->stop(); }

private:
  void pass_on(evaluators::EvaluationResult result) {
    const bool is_of_liar =
        !result.evaluations.empty() && result.evaluations.front().worker == "liar";
    done_(std::move(result));
    if (is_of_liar && ++of_liar_ == workers_.found_out_after) {
      workers_.is_found_out = true;
      take_("liar");
    }
  }

  Workers& workers_;
  evaluators::TakeResult done_;
  evaluators::TakeQuarantine take_;
  int of_liar_ = 0;
  std::unique_ptr<evaluators::Evaluations> inner_; ///< last, because its thread uses the others
};

ModelReply next_reply(const ModelRequest& request) {
  static const std::vector<std::string> kReplies{
      test::reply_text("correct", 2.0, 2.0), test::reply_text("wrong", 0),
      test::family_reply_text(1.4, 1.3), test::reply_text("correct", 4.0, 4.0)};
  const std::size_t number = std::stoul(request.key.substr(request.key.rfind('/') + 1));
  return test::ok_reply(kReplies[number % kReplies.size()]);
}

class QuarantineRunTest : public test::RunLoopTest,
                          public testing::WithParamInterface<const char*> {
protected:
  QuarantineRunTest() {
    config_.strategy = GetParam();
    config_.roles = std::vector<std::string>();
    config_.proposals = 10;
    evaluations_ = [this](evaluators::TakeResult done) {
      return std::make_unique<WatchedEvaluations>(workers_, std::move(done));
    };
  }

  RunOutcome finish(const std::function<void()>& after_write = {}) {
    ScriptedModel endpoint(next_reply);
    return session(endpoint, after_write);
  }

  void expect_nothing_rests_on_the_liar() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    const store::RowId run = store.find_run(run_name_)->id;
    EXPECT_TRUE(store::evaluations_of_worker(store, run, "liar").empty());
    EXPECT_TRUE(store::unjudged_evaluations(store, run).empty());
    for (const store::CandidateState& candidate : store.candidates(run)) {
      ASSERT_TRUE(candidate.best);
      EXPECT_EQ(candidate.best->worker,
                candidate.best->verdict == tasks::Verdict::BadReply ? "" : "honest");
    }
    for (const store::LeaderboardRow& row : store.leaderboard({.top = 0})) {
      EXPECT_LT(row.speedup, kLie) << row.candidate;
    }
  }

  Workers workers_;
};

TEST_P(QuarantineRunTest, JudgesAgainWhatTheLiarHasJudged) {
  workers_.found_out_after = 5;
  ASSERT_EQ(finish().end, End::Finished);
  ASSERT_TRUE(workers_.is_found_out);
  expect_nothing_rests_on_the_liar();
  EXPECT_THAT(said_, HasSubstr("worker 'liar' is quarantined"));
  EXPECT_GE(recompute_decisions(), 2 * config_.proposals);
  EXPECT_EQ(recorded_keys().size(), 2U * static_cast<std::size_t>(config_.proposals));
}

TEST_P(QuarantineRunTest, AResumedRunJudgesAgainWhatAnotherCoordinatorFoundOut) {
  ASSERT_EQ(finish().end, End::Finished);
  {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    EXPECT_FALSE(
        store::evaluations_of_worker(store, store.find_run(run_name_)->id, "liar").empty());
  }
  workers_.is_found_out = true;
  const RunOutcome resumed = finish();
  EXPECT_EQ(resumed.end, End::Finished);
  EXPECT_FALSE(resumed.was_finished) << "so that a new final is held";
  expect_nothing_rests_on_the_liar();
  EXPECT_TRUE(finish().was_finished) << "there is nothing left to do";
  recompute_decisions();
}

TEST_P(QuarantineRunTest, GoesOnWhereverItsProcessDies) {
  int crashes = 0;
  for (int nth = 115;; nth += 61, ++crashes) {
    forget();
    workers_.results = 0;
    workers_.is_found_out = false;
    workers_.found_out_after = 5;
    int writes = 0;
    try {
      finish([&] {
        if (++writes == nth) {
          throw test::Crash();
        }
      });
      break; // the run has fewer writes
    } catch (const test::Crash&) {
      const RunOutcome resumed = finish();
      ASSERT_EQ(resumed.end, End::Finished)
          << "after a crash at write " << nth << ": " << resumed.message;
      if (workers_.is_found_out) {
        expect_nothing_rests_on_the_liar();
      }
      recompute_decisions();
    }
  }
  EXPECT_GT(crashes, 1);
}

INSTANTIATE_TEST_SUITE_P(Strategies, QuarantineRunTest,
                         testing::Values("one-plus-one", "archive", "best-of-n"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace winnow::harness
