// Runs that ask several models.
#include "agents/record/replay_endpoint.h"
#include "harness/run/run_report.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::HasSubstr;
using End = RunOutcome::End;

constexpr std::int64_t kOutputTokens = 1000;

agents::Price price_of_output(double dollars_per_million) {
  agents::Price price;
  price.output = dollars_per_million;
  return price;
}

/// The number at the end of a call's key.
int step_of(const ModelRequest& request) {
  return std::stoi(request.key.substr(request.key.rfind('/') + 1));
}

/// The cheap model's kernels never lead. The dear model's kernels become ever faster.
class RunModels : public test::RunLoopTest {
protected:
  RunModels() {
    tasks_.resize(1);
    config_.strategy = "archive";
    config_.proposals = 60;
    config_.seeds = 2;
    for (const char* name : {"cheap", "dear"}) {
      ModelArm& model = config_.models.emplace_back();
      model.name = name;
      model.endpoint = config_.endpoint;
      model.endpoint.model = std::string(name) + "-model";
      model.endpoint.max_output_tokens = kOutputTokens;
    }
  }

  RunOutcome session_of_two() {
    ScriptedModel cheap([this](const ModelRequest& request) {
      EXPECT_EQ(request.model, "cheap-model");
      before_reply_();
      return paid(test::reply_text("correct", 0.9), cheap_dollars_);
    });
    ScriptedModel dear([this](const ModelRequest& request) {
      EXPECT_EQ(request.model, "dear-model");
      before_reply_();
      return paid(test::reply_text("correct", std::pow(1.3, 1 + step_of(request))), dear_dollars_);
    });
    RunOutcome outcome = session(
        {{"cheap", config_.models[0].endpoint, cheap, price_of_output(cheap_dollars_ * 1000)},
         {"dear", config_.models[1].endpoint, dear, price_of_output(dear_dollars_ * 1000)}});
    asked_cheap_ = cheap.asked();
    asked_dear_ = dear.asked();
    return outcome;
  }

  /// Waits until the store has a verdict for every candidate of the first `calls` calls.
  void await_verdicts(int calls) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (judged_replies() < calls) {
      if (std::chrono::steady_clock::now() > give_up) {
        ADD_FAILURE() << "only " << judged_replies() << " of " << calls << " replies are judged";
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  int judged_replies() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    const std::vector<store::CandidateState> candidates =
        store.candidates(store.find_run(run_name_)->id);
    return static_cast<int>(std::count_if(candidates.begin(), candidates.end(), [](const auto& c) {
      return !c.row.call_key.empty() && c.best;
    }));
  }

  /// A reply as long as the limit of tokens allows.
  static ModelReply paid(const std::string& text, double dollars) {
    ModelReply reply = test::ok_reply(text);
    reply.usage.completion_tokens = kOutputTokens;
    reply.dollars = dollars;
    return reply;
  }

  double cheap_dollars_ = 0.01;
  double dear_dollars_ = 0.15;
  std::function<void()> before_reply_ = [] {};
  std::vector<std::string> asked_cheap_, asked_dear_;
};

TEST_F(RunModels, SpendBothWithinTheLimitAndTellWhoEarned) {
  config_.limits.dollars = 1;
  const RunOutcome outcome = session_of_two();
  EXPECT_EQ(outcome.end, End::BudgetSpent);
  EXPECT_THAT(outcome.message, HasSubstr("limits.dollars = 1 is spent"));
  EXPECT_LE(outcome.spend.dollars, 1);
  EXPECT_GT(outcome.spend.dollars, 0.8);
  EXPECT_THAT(asked_cheap_, testing::Contains("a/0/0"));
  EXPECT_THAT(asked_dear_, testing::Contains("a/0/1"));
  std::map<std::string, search::Earnings> of_models;
  for (const search::Earnings& earned : outcome.earnings) {
    of_models[earned.model] += earned;
  }
  EXPECT_EQ(of_models["cheap"].calls, static_cast<std::int64_t>(asked_cheap_.size()));
  EXPECT_EQ(of_models["dear"].calls, static_cast<std::int64_t>(asked_dear_.size()));
  EXPECT_NEAR(of_models["cheap"].dollars + of_models["dear"].dollars, outcome.spend.dollars, 1e-9);
  EXPECT_EQ(of_models["cheap"].log_gain, 0);
  EXPECT_GT(of_models["dear"].log_gain, std::log(1.3));
  const std::string table = earnings_table(outcome, config_);
  EXPECT_THAT(table, testing::ContainsRegex("cheap +seed +1 +1 +0.0100 +0.0 +x1.00"));
  EXPECT_THAT(table, testing::ContainsRegex("dear +seed +1 +1 +0.1500 +0.0 +x1.69"));
  EXPECT_THAT(table, testing::ContainsRegex("dear +all +"));
  EXPECT_GT(recompute_decisions(), 10);
}

TEST_F(RunModels, ResumeWithTheSameModels) {
  config_.proposals = 12;
  config_.limits.calls = 5;
  EXPECT_EQ(session_of_two().end, End::BudgetSpent);
  const std::size_t asked_before = asked_cheap_.size() + asked_dear_.size();
  EXPECT_EQ(asked_before, 5U);
  config_.limits.calls = 0;
  const RunOutcome outcome = session_of_two();
  EXPECT_EQ(outcome.end, End::Finished);
  EXPECT_EQ(asked_cheap_.size() + asked_dear_.size(), 7U);
  EXPECT_EQ(recompute_decisions(), 2 * 12 + 1) << "and the baseline";
  std::int64_t calls = 0;
  for (const search::Earnings& earned : outcome.earnings) {
    calls += earned.calls;
  }
  EXPECT_EQ(calls, 12) << "of both sessions";
}

TEST_F(RunModels, ChainsKeepTheirModel) {
  config_.strategy = "one-plus-one";
  config_.proposals = 6;
  config_.chains = 2;
  EXPECT_EQ(session_of_two().end, End::Finished);
  EXPECT_THAT(asked_cheap_, testing::ElementsAre("a/0/0", "a/0/1", "a/0/2"));
  EXPECT_THAT(asked_dear_, testing::ElementsAre("a/1/0", "a/1/1", "a/1/2"));
}

TEST_F(RunModels, StopWhenACallCostsMoreThanItPromises) {
  config_.value_of_doubling = 0.01;
  config_.endpoint.parallel = 1;
  cheap_dollars_ = dear_dollars_ = 0.5;
  int earlier = 0; // one call at a time, so that one thread at a time counts
  before_reply_ = [&] { await_verdicts(earlier++); };
  EXPECT_EQ(session_of_two().end, End::Finished);
  EXPECT_EQ(asked_cheap_.size() + asked_dear_.size(), 5U)
      << "prices count from 4 verdicts on; 1 call is under way when the fourth comes";
  EXPECT_THAT(said_, HasSubstr("a: the search is over: the expected gain of the next call is worth "
                               "less than its price"));
}

TEST_F(RunModels, ABudgetSmallerThanOneCallMakesNone) {
  config_.limits.dollars = 0.001;
  const RunOutcome outcome = session_of_two();
  EXPECT_EQ(outcome.end, End::BudgetSpent);
  EXPECT_THAT(outcome.message, testing::MatchesRegex("limits.dollars = 0.001 is less than one call "
                                                     "may need: 1[0-9]* tokens, \\$0.0100"));
  EXPECT_TRUE(asked_cheap_.empty());
  EXPECT_TRUE(asked_dear_.empty());
  EXPECT_EQ(earnings_table(outcome, config_), "");
}

TEST_F(RunModels, AReplayMayBeOneOfThem) {
  config_.models[0].endpoint.kind = "replay";
  config_.proposals = 4;
  std::vector<agents::RecordedCall> calls;
  for (const char* key : {"a/0/0", "a/0/1", "a/0/2", "a/0/3"}) {
    calls.push_back({key, test::ok_reply(test::reply_text("correct", 2)), ""});
  }
  agents::ReplayEndpoint recorded(std::move(calls), 4, 0);
  ScriptedModel live(
      [](const ModelRequest&) { return test::ok_reply(test::reply_text("correct", 3)); });
  EXPECT_EQ(session({{"cheap", config_.models[0].endpoint, recorded},
                     {"dear", config_.models[1].endpoint, live}})
                .end,
            End::Finished);
  EXPECT_EQ(recorded_keys().size(), 4U);
  EXPECT_GE(live.asked().size(), 1U);
  EXPECT_LE(live.asked().size(), 3U) << "the first call is in the recording";
}

/// Runs with a limit on wall time, whose clock the test sets.
class RunReserve : public test::RunLoopTest {
protected:
  RunReserve() {
    tasks_.resize(1);
    config_.proposals = 5;
    config_.limits.wall_time = std::chrono::minutes(10);
    now_ = [this] { return std::chrono::steady_clock::time_point(std::chrono::minutes(minutes_)); };
  }

  /// Each call takes so many minutes.
  std::size_t calls_of(int minutes, RunOutcome& outcome) {
    ScriptedModel endpoint([&](const ModelRequest&) {
      minutes_ += minutes;
      return test::ok_reply(test::reply_text("correct", 2));
    });
    outcome = session(endpoint);
    return endpoint.asked().size();
  }

  std::atomic<int> minutes_{0};
};

TEST_F(RunReserve, TheEndOfTheTimeIsKeptForTheFinal) {
  RunOutcome outcome;
  EXPECT_EQ(calls_of(3, outcome), 3U) << "the third one begins in minute 6";
  EXPECT_EQ(outcome.end, End::Finished) << outcome.message;
  EXPECT_THAT(said_,
              HasSubstr("limits.wall_time: the last 15 % are kept for judging and the final\n"));
  EXPECT_EQ(status(), "finished");

  minutes_ = 0;
  EXPECT_EQ(calls_of(1, outcome), 0U) << "earlier sessions count";
  EXPECT_TRUE(outcome.was_finished);
  config_.limits.wall_time = std::chrono::minutes(60);
  EXPECT_EQ(calls_of(1, outcome), 2U) << "there is time again";
  EXPECT_EQ(outcome.end, End::Finished);
}

TEST_F(RunReserve, ARunThatEndsEarlyKeepsNothing) {
  RunOutcome outcome;
  EXPECT_EQ(calls_of(1, outcome), 5U);
  EXPECT_EQ(outcome.end, End::Finished);
  EXPECT_THAT(said_, testing::Not(HasSubstr("limits.wall_time")));
}

} // namespace
} // namespace winnow::harness
