#include "base/error.h"
#include "harness/run/run_report.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using store::RunStore;
using test::RunLoopTest;
using test::ScriptedModel;
using End = RunOutcome::End;

/// Answers of every kind, by step. As in a recording, a reply depends only on the key.
ModelReply scripted(const ModelRequest& request) {
  static const std::map<std::string, std::string> kReplies{
      {"a/0/0", test::reply_text("compile_error", 0)}, {"a/0/1", test::reply_text("correct", 1.5)},
      {"a/0/2", test::reply_text("correct", 1.2)},     {"b/0/0", "I cannot do that."},
      {"b/0/1", test::reply_text("wrong", 0)},         {"b/0/2", test::reply_text("correct", 3)}};
  return test::ok_reply(kReplies.at(request.key));
}

ModelReply deferred(const ModelRequest&) {
  ModelReply reply;
  reply.status = ModelReply::Status::Deferred;
  return reply;
}

TEST_F(RunLoopTest, AsksJudgesAndRecordsEverything) {
  ScriptedModel endpoint(scripted);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Finished) << outcome.message;
  EXPECT_EQ(outcome.spend.calls, 6);
  EXPECT_EQ(outcome.spend.tokens, 660);
  EXPECT_EQ(status(), "finished");
  const std::string text = account();
  EXPECT_THAT(text, testing::HasSubstr("b:b/0/0 model parent b:"));
  EXPECT_THAT(text, testing::HasSubstr("bad_reply"));
  EXPECT_THAT(text, testing::HasSubstr("a best 2 previous 2 of 2"));
  EXPECT_THAT(text, testing::HasSubstr("b best -1 previous 2 of 2"));
}

TEST_F(RunLoopTest, HiddenShapesDecideWhoLeads) {
  tasks_.resize(1);
  config_.proposals = 4;
  const std::map<std::string, std::string> replies{
      {"a/0/0", test::reply_text("correct", 1.5, 0.8)}, // slower than the baseline on hidden shapes
      {"a/0/1", test::reply_text("correct", 2.0, 2.0)}, // the first leader
      {"a/0/2", test::reply_text("correct", 3.0, 1.7)}, // 15 % slower on hidden shapes
      {"a/0/3", test::reply_text("correct", 2.5, 1.85)}, // 7.5 % slower on hidden shapes
  };
  ScriptedModel endpoint(
      [&](const ModelRequest& request) { return test::ok_reply(replies.at(request.key)); });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  const RunStore store(store_path(), RunStore::Mode::ReadOnly);
  std::vector<bool> promoted;
  for (const store::CandidateState& candidate : store.candidates(1)) {
    promoted.push_back(candidate.best->promoted);
  }
  EXPECT_THAT(promoted, testing::ElementsAre(true, false, true, false, true));
  std::vector<double> ranked;
  for (const store::LeaderboardRow& row : store.leaderboard({})) {
    ranked.push_back(row.speedup);
  }
  EXPECT_THAT(ranked, testing::ElementsAre(2.5, 2.0, 1.0));
  EXPECT_THAT(account(), testing::HasSubstr("a best 2 previous 3 of 3"))
      << "not 3, which is faster";
  const std::string board = run_leaderboard(store, store.runs().front().name);
  EXPECT_THAT(board,
              testing::HasSubstr("3.00x as fast as baseline.cu (no interval): not promoted"));
}

TEST_F(RunLoopTest, TheEndOfARunWithoutAFinalOffersOne) {
  tasks_.resize(1);
  config_.proposals = 1;
  config_.finalists = 0;
  ScriptedModel endpoint(
      [&](const ModelRequest&) { return test::ok_reply(test::reply_text("correct", 2.0, 2.0)); });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  const RunStore store(store_path(), RunStore::Mode::ReadOnly);
  const std::string run = store.runs().front().name;
  const std::string board = run_leaderboard(store, run);
  EXPECT_THAT(board, testing::HasSubstr("no final yet"));
  EXPECT_THAT(board, testing::HasSubstr("winnow reverify --task a --device"));
  EXPECT_THAT(board, testing::HasSubstr(" --run " + run + " --store"));
}

TEST_F(RunLoopTest, EveryCrashResumesToTheSameEnd) {
  std::int64_t writes = 0;
  {
    ScriptedModel endpoint(scripted);
    ASSERT_EQ(session(endpoint, [&] { ++writes; }).end, End::Finished);
  }
  const std::string expected = account();
  ASSERT_GT(writes, 30);
  std::int64_t crashes = 0;
  for (std::int64_t crash_at = 1; crash_at < writes; ++crash_at) {
    forget();
    {
      ScriptedModel endpoint(scripted);
      crashes += crash_after(crash_at, endpoint) ? 1 : 0;
    }
    const std::set<std::string> paid = recorded_keys();
    ScriptedModel endpoint(scripted);
    ASSERT_EQ(session(endpoint).end, End::Finished) << "after write " << crash_at;
    ASSERT_EQ(account(), expected) << "after write " << crash_at;
    ASSERT_GE(recompute_decisions(), 12) << "after write " << crash_at;
    for (const std::string& key : endpoint.asked()) {
      EXPECT_FALSE(paid.contains(key)) << key << " was paid twice, after write " << crash_at;
    }
  }
  EXPECT_GT(crashes, 20);
}

TEST_F(RunLoopTest, AFinishedRunAsksNothingMore) {
  ScriptedModel first(scripted);
  session(first);
  const std::string before = account();
  const auto journal = [this] {
    const RunStore store(store_path(), RunStore::Mode::ReadOnly);
    return std::pair(store.events(1).size(), store.find_run(run_name_)->finished_at);
  };
  const auto written = journal();
  ScriptedModel second(scripted);
  const RunOutcome outcome = session(second);
  EXPECT_EQ(outcome.end, End::Finished);
  EXPECT_TRUE(outcome.was_finished);
  EXPECT_TRUE(second.asked().empty());
  EXPECT_EQ(account(), before);
  EXPECT_EQ(journal(), written) << "it ended when it ended";
}

TEST_F(RunLoopTest, BeginsWithTheBaselineOfItsDevice) {
  tasks_.resize(1);
  tasks_.front().cpu_baseline = tasks_.front().baseline + "// for the CPU\n";
  ScriptedModel endpoint(scripted);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const store::RowId first = store.candidates(store.find_run(run_name_)->id).front().row.id;
  EXPECT_EQ(store.candidate(first).text, tasks_.front().cpu_baseline);
}

TEST_F(RunLoopTest, ABrokenBaselineOfTheDeviceIsNamed) {
  tasks_.resize(1);
  tasks_.front().cpu_baseline = test::kernel_text("wrong", 0);
  ScriptedModel endpoint(scripted);
  session(endpoint);
  EXPECT_THAT(said_, testing::HasSubstr("mend the task's baseline.cpu.cu or reference.cu"));
}

TEST_F(RunLoopTest, AResumedRunTellsOnlyWhatIsNew) {
  ScriptedModel first(scripted);
  config_.limits.calls = 5;
  EXPECT_EQ(session(first).end, End::BudgetSpent);
  config_.limits.calls = 6;
  ScriptedModel second(scripted);
  EXPECT_EQ(session(second).end, End::Finished);
  EXPECT_THAT(said_, testing::MatchesRegex(
                         "the store has 5 replies to this run \\(5 judged, [1-3] correct\\)\n"
                         "[ab]/0/2 correct [^\n]*\n"));
}

TEST_F(RunLoopTest, AnInterruptionKeepsTheStateAndResumes) {
  ScriptedModel never(scripted);
  never.hold();
  const RunOutcome outcome = session(never, {}, [&](RunLoop& loop) {
    never.on_ask = [&](const std::string&) { loop.interrupt(); };
  });
  EXPECT_EQ(outcome.end, End::Interrupted);
  EXPECT_EQ(outcome.spend.calls, 0);
  EXPECT_EQ(status(), "interrupted");
  ScriptedModel endpoint(scripted);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(recorded_keys().size(), 6U);
}

TEST_F(RunLoopTest, ALimitOnCallsStopsWorkThatRemains) {
  config_.limits.calls = 4;
  ScriptedModel first(scripted);
  const RunOutcome outcome = session(first);
  EXPECT_EQ(outcome.end, End::BudgetSpent);
  EXPECT_THAT(outcome.message, testing::HasSubstr("limits.calls = 4"));
  EXPECT_EQ(first.asked().size(), 4U);
  EXPECT_EQ(status(), "stopped by budget");
  ScriptedModel again(scripted);
  EXPECT_EQ(session(again).end, End::BudgetSpent) << "spent calls count in every session";
  EXPECT_TRUE(again.asked().empty());
  config_.limits.calls = 6;
  ScriptedModel second(scripted);
  EXPECT_EQ(session(second).end, End::Finished) << "a limit that stopped nothing is no failure";
  EXPECT_EQ(second.asked().size(), 2U);
}

TEST_F(RunLoopTest, CallsThatAreAnsweredElsewhereWaitInTheStore) {
  ScriptedModel asked(scripted);
  ASSERT_EQ(session(asked).end, End::Finished);
  const std::string expected = account();
  forget();

  ScriptedModel deferring(deferred);
  const RunOutcome outcome = session(deferring);
  EXPECT_EQ(outcome.end, End::Waiting);
  EXPECT_EQ(outcome.message, "waiting for 2 replies");
  EXPECT_EQ(outcome.spend.calls, 0);
  EXPECT_EQ(status(), "waiting for replies");
  ScriptedModel live(scripted);
  EXPECT_EQ(session(live).end, End::Finished);
  EXPECT_EQ(account(), expected);
}

TEST_F(RunLoopTest, CallsThatAreAnsweredElsewhereCountAgainstLimits) {
  config_.limits.calls = 1;
  ScriptedModel deferring(deferred);
  const RunOutcome outcome = session(deferring);
  EXPECT_EQ(outcome.end, End::Waiting);
  EXPECT_EQ(outcome.message, "waiting for 1 reply; limits.calls = 1 allows no more calls");
  EXPECT_EQ(deferring.asked().size(), 1U);
}

TEST_F(RunLoopTest, ALimitOnDollarsHolds) {
  config_.limits.dollars = 0.03;
  config_.endpoint.parallel = 1;
  ScriptedModel endpoint(scripted);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::BudgetSpent);
  EXPECT_NEAR(outcome.spend.dollars, 0.03, 1e-9);
}

TEST_F(RunLoopTest, ALimitOnWallTimeCancelsWhatIsInFlight) {
  config_.limits.wall_time = std::chrono::minutes(10);
  std::atomic<int> minutes{0};
  now_ = [&] { return std::chrono::steady_clock::time_point(std::chrono::minutes(minutes)); };
  ScriptedModel never(scripted);
  never.hold();
  never.on_ask = [&](const std::string&) { minutes = 11; };
  const RunOutcome outcome = session(never);
  EXPECT_EQ(outcome.end, End::BudgetSpent);
  EXPECT_EQ(outcome.elapsed, std::chrono::minutes(11));
  minutes = 0;
  ScriptedModel endpoint(scripted);
  EXPECT_EQ(session(endpoint).end, End::BudgetSpent) << "earlier sessions count";
  EXPECT_TRUE(endpoint.asked().empty());
}

TEST_F(RunLoopTest, ASessionThatIsKilledWhileItWaitsKeepsItsTime) {
  config_.limits.wall_time = std::chrono::minutes(10);
  std::atomic<int> seconds{0};
  now_ = [&] { return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds += 5)); };
  ScriptedModel never(scripted);
  never.hold();
  never.on_ask = [&](const std::string&) { seconds = 300; };
  EXPECT_THROW(session(never,
                       [&] {
                         if (seconds > 320) {
                           throw test::Crash();
                         }
                       }),
               test::Crash);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const auto kept = elapsed_before(store.events(store.find_run(run_name_)->id));
  EXPECT_GE(kept, std::chrono::seconds(300));
  EXPECT_LT(kept, std::chrono::seconds(400));
}

TEST_F(RunLoopTest, NeverMoreInFlightThanAllowed) {
  config_.strategy = "best-of-n";
  config_.proposals = 8;
  config_.endpoint.parallel = 3;
  ScriptedModel endpoint(
      [](const ModelRequest&) { return test::ok_reply(test::reply_text("correct", 2)); });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(endpoint.asked().size(), 16U);
  EXPECT_LE(endpoint.most_in_flight(), 3U);
}

TEST_F(RunLoopTest, ABadKeyStopsTheRunAtOnce) {
  ScriptedModel refusing([](const ModelRequest&) { return test::failed_reply("401: bad key"); });
  const RunOutcome outcome = session(refusing);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_THAT(outcome.message, testing::HasSubstr("401: bad key"));
  EXPECT_EQ(status(), "failed");
  ScriptedModel endpoint(scripted);
  EXPECT_EQ(session(endpoint).end, End::Finished) << "the calls are asked again";
}

TEST_F(RunLoopTest, OneFailedCallEndsItsChainOnly) {
  std::atomic<bool> down{true};
  const auto answer = [&](const ModelRequest& request) {
    return down && request.key == "a/0/1" ? test::failed_reply("500") : scripted(request);
  };
  config_.endpoint.parallel = 1;
  ScriptedModel flaky(answer);
  const RunOutcome outcome = session(flaky);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_THAT(outcome.message, testing::HasSubstr("a/0/1"));
  EXPECT_EQ(recorded_keys(), (std::set<std::string>{"a/0/0", "b/0/0", "b/0/1", "b/0/2"}));
  down = false;
  ScriptedModel endpoint(answer);
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(endpoint.asked(), (std::vector<std::string>{"a/0/1", "a/0/2"}));
}

TEST_F(RunLoopTest, ARecordingThatEndsLeavesItsCallsToOthers) {
  ScriptedModel endpoint([](const ModelRequest& request) {
    ModelReply none;
    none.status = ModelReply::Status::Exhausted;
    return request.key == "a/0/2" ? none : scripted(request);
  });
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::RecordingSpent);
  EXPECT_EQ(outcome.message, "the recording has no reply to 1 call");
  EXPECT_EQ(outcome.spend.calls, 5);
  EXPECT_EQ(status(), "waiting for replies");
  ScriptedModel live(scripted);
  EXPECT_EQ(session(live).end, End::Finished);
  EXPECT_THAT(live.asked(), testing::ElementsAre("a/0/2"));
}

TEST_F(RunLoopTest, AFileThatAModelSendsAgainIsNotTunedAgain) {
  std::atomic<int> heats{0};
  class Counting : public test::FakeLane {
  public:
    explicit Counting(std::atomic<int>& count) : count_(count) {}
    std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                            const std::stop_token& stop) override {
      count_ += request.depth == evaluators::Depth::Trial ? 1 : 0;
      return FakeLane::evaluate(request, stop);
    }

  private:
    std::atomic<int>& count_;
  };
  lane_ = [&] { return std::make_unique<Counting>(heats); };
  config_.max_variants = 4;
  ScriptedModel endpoint(
      [](const ModelRequest&) { return test::ok_reply(test::family_reply_text(2, 1.2)); });
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(heats, 2 * 2) << "two rungs for each of two tasks";
}

TEST_F(RunLoopTest, AFaultOfTheMachineIsNeverRecordedAsAVerdict) {
  std::atomic<int> judged{0};
  ScriptedModel endpoint([](const ModelRequest& request) {
    return request.key == "a/0/0" ? test::ok_reply(test::reply_text("infrastructure", 0))
                                  : scripted(request);
  });
  class Counting : public test::FakeLane {
  public:
    explicit Counting(std::atomic<int>& count) : count_(count) {}
    std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                            const std::stop_token& stop) override {
      count_ += request.text.find("infrastructure") != std::string::npos ? 1 : 0;
      return FakeLane::evaluate(request, stop);
    }

  private:
    std::atomic<int>& count_;
  };
  lane_ = [&] { return std::make_unique<Counting>(judged); };
  EXPECT_EQ(session(endpoint).end, End::Finished);
  EXPECT_EQ(judged, 2) << "the first fault puts the candidate back";
  EXPECT_THAT(account(), testing::HasSubstr("not judged"));
  session(endpoint);
  EXPECT_EQ(judged, 4) << "a resumed run judges it again";
  EXPECT_GT(recompute_decisions(), 12);
}

TEST_F(RunLoopTest, TheLogSaysWhenARunWasResumed) {
  config_.limits.calls = 5;
  for (int i = 0; i < 2; ++i) {
    ScriptedModel endpoint([](const ModelRequest& request) {
      return request.key == "a/0/0" ? test::ok_reply(test::reply_text("infrastructure", 0))
                                    : scripted(request);
    });
    EXPECT_EQ(session(endpoint).end, End::BudgetSpent);
  }
  EXPECT_GT(recompute_decisions(), 10);
}

TEST_F(RunLoopTest, AMachineThatKeepsFailingStopsTheRun) {
  tasks_[0].baseline = tasks_[1].baseline = test::kernel_text("infrastructure", 0);
  tasks_.push_back(test::small_task("c"));
  tasks_[2].baseline = tasks_[0].baseline;
  ScriptedModel endpoint(scripted);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_THAT(outcome.message, testing::HasSubstr("machine keeps failing"));
}

TEST_F(RunLoopTest, ATaskWhoseBaselineIsWrongIsLeftOut) {
  tasks_[0].baseline = test::kernel_text("wrong", 0);
  ScriptedModel endpoint(scripted);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_THAT(outcome.message, testing::HasSubstr("a baseline wrong"));
  EXPECT_EQ(recorded_keys(), (std::set<std::string>{"b/0/0", "b/0/1", "b/0/2"}));
}

TEST_F(RunLoopTest, AnEvaluatorThatCannotStartStopsTheRun) {
  struct Broken : evaluators::Lane {
    std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest&,
                                            const std::stop_token&) override {
      throw Error("no compiler", "install clang");
    }
  };
  lane_ = [] { return std::make_unique<Broken>(); };
  ScriptedModel endpoint(scripted);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_THAT(outcome.message, testing::HasSubstr("no compiler; install clang"));
}

} // namespace
} // namespace winnow::harness
