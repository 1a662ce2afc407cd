#include "harness/run/goals.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using testing::HasSubstr;
using End = RunOutcome::End;

/// The first reply to task a is fast, all others are not.
ModelReply fast_for_a(const ModelRequest& request) {
  return test::ok_reply(test::reply_text("correct", request.key == "a/0/0" ? 3 : 1.1));
}

struct GoalsTest : test::RunLoopTest {
  GoalsTest() { config_.until = "speedup > 2"; }

  std::map<std::string, int> calls() const {
    std::map<std::string, int> of_task;
    for (const std::string& key : recorded_keys()) {
      ++of_task[key.substr(0, 1)];
    }
    return of_task;
  }

  /// `answer`, but replies after a's first wait for the verdict about that one: otherwise the
  /// number of calls that begin before it depends on the machine.
  test::ScriptedModel::Answer after_the_first_verdict(test::ScriptedModel::Answer answer) const {
    return [this, answer = std::move(answer)](const ModelRequest& request) {
      while (request.key != "a/0/0" && !is_judged("a/0/0")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return answer(request);
    };
  }

  /// Whether the kernel of the call is judged.
  bool is_judged(const std::string& key) const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    const std::vector<store::CandidateState> all = store.candidates(store.find_run(run_name_)->id);
    return std::any_of(all.begin(), all.end(), [&](const store::CandidateState& candidate) {
      return candidate.row.call_key == key && candidate.best;
    });
  }
};

TEST_F(GoalsTest, ATaskWithAGoodKernelGivesItsCallsToTheOther) {
  test::ScriptedModel endpoint(fast_for_a);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(calls(), (std::map<std::string, int>{{"a", 1}, {"b", 5}}));
  EXPECT_THAT(said_, HasSubstr("a: the search is over: speedup is 3, above 2 (run.until)"));
  EXPECT_THAT(said_, HasSubstr("2 calls of ended searches go to 1 other task"));
}

TEST_F(GoalsTest, WithoutAnotherTaskTheCallsAreSaved) {
  tasks_.resize(1);
  test::ScriptedModel endpoint(fast_for_a);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(calls(), (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(GoalsTest, WithoutAnAlternativeTheSearchGoesOnAndSaysWhy) {
  config_.until = "vs_best > 1.1";
  test::ScriptedModel endpoint(fast_for_a);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(calls(), (std::map<std::string, int>{{"a", 3}, {"b", 3}}));
  EXPECT_THAT(said_, HasSubstr("a: vs_best is not known, so run.until does not end its search; to "
                               "time the alternatives: winnow baseline torch a"));
}

TEST_F(GoalsTest, ChainsAndSingleCallsGetWhatIsLeft) {
  for (const char* strategy : {"best-of-n", "archive", "fsr"}) {
    run_name_ = strategy;
    config_.strategy = strategy;
    config_.endpoint.parallel = 1;
    test::ScriptedModel endpoint(after_the_first_verdict([](const ModelRequest& request) {
      return test::ok_reply(test::reply_text("correct", request.key.starts_with("a/") ? 3 : 1.1));
    }));
    EXPECT_EQ(session(endpoint).end, End::Finished) << strategy;
    const auto made = calls();
    EXPECT_EQ(made.at("a") + made.at("b"), 6) << strategy;
    EXPECT_LT(made.at("a"), 3) << strategy;
    EXPECT_GT(recompute_decisions(), 0);
  }
}

/// Kernels of more than twice the baseline's speed are near the bound.
class LaneWithBound : public test::FakeLane {
public:
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    std::vector<tasks::Evaluation> all = FakeLane::evaluate(request, stop);
    for (tasks::Evaluation& one : all) {
      one.profile = fmt::format(R"([{{"time_ns": 1, "speed_of_light": {{"fraction": {}}}}}])",
                                one.speedup > 2 ? 0.96 : 0.5);
    }
    return all;
  }
};

TEST_F(GoalsTest, ATaskNearItsBoundGivesItsCallsToTheOtherWithoutBeingAsked) {
  lane_ = [] { return std::make_unique<LaneWithBound>(); };
  config_.until = "";
  config_.endpoint.parallel = 1;
  for (const char* strategy : {"one-plus-one", "best-of-n", "archive"}) {
    run_name_ = config_.strategy = strategy;
    test::ScriptedModel endpoint(after_the_first_verdict(fast_for_a));
    EXPECT_EQ(session(endpoint).end, End::Finished) << strategy;
    const auto made = calls();
    EXPECT_EQ(made.at("a") + made.at("b"), 6) << strategy;
    EXPECT_LT(made.at("a"), 3) << strategy;
    EXPECT_THAT(said_, HasSubstr("a: the search is over: the best kernel is near the roofline"));
    EXPECT_GT(recompute_decisions(), 0);
  }
}

TEST_F(GoalsTest, APatientEndSavesItsCalls) {
  config_.until = "";
  config_.strategy = "archive";
  config_.seeds = 1;
  config_.patience = 1;
  config_.endpoint.parallel = 1;
  test::ScriptedModel endpoint(
      [](const ModelRequest&) { return test::ok_reply(test::reply_text("wrong", 0)); });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(calls(), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

TEST_F(GoalsTest, ARunThatIsKilledAnywhereMakesTheSameCalls) {
  config_.endpoint.parallel = 1;
  for (std::int64_t write = 1;; write += 3) {
    forget();
    test::ScriptedModel first(fast_for_a), second(fast_for_a);
    const bool was_stopped = crash_after(write, first);
    EXPECT_EQ(session(second).end, End::Finished) << write;
    EXPECT_EQ(calls(), (std::map<std::string, int>{{"a", 1}, {"b", 5}})) << write;
    if (!was_stopped) {
      return;
    }
  }
}

} // namespace
} // namespace winnow::harness
