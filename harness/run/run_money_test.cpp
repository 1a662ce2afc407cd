// A run never pays for a reply that it already has, and it remembers calls that may have been
// billed.
#include "agents/record/replay_endpoint.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using store::RunStore;
using test::Crash;
using test::ScriptedModel;
using End = RunOutcome::End;

/// A reply with a different text for each key.
ModelReply by_key(const ModelRequest& request) {
  return test::ok_reply(test::reply_text("correct", 2) + "// " + request.key);
}

class RunMoney : public test::RunLoopTest {
protected:
  RunMoney() { config_.strategy = "best-of-n"; }

  store::RunCosts costs() const {
    const RunStore store(store_path(), RunStore::Mode::ReadOnly);
    return store.run_costs(store.find_run(run_name_)->id);
  }

  bool has_open_calls() const {
    const RunStore store(store_path(), RunStore::Mode::ReadOnly);
    return !store.pending_calls(store.find_run(run_name_)->id).empty();
  }

  std::size_t model_candidates() const {
    const RunStore store(store_path(), RunStore::Mode::ReadOnly);
    const auto all = store.candidates(store.find_run(run_name_)->id);
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const auto& state) { return state.row.origin == "model"; }));
  }

  /// A session that is interrupted while all its calls are in flight.
  RunOutcome interrupted_session() {
    ScriptedModel never(by_key);
    never.hold();
    std::size_t asked = 0;
    return session(never, {}, [&](RunLoop& loop) {
      never.on_ask = [&](const std::string&) {
        if (++asked == static_cast<std::size_t>(config_.endpoint.parallel)) {
          loop.interrupt();
        }
      };
    });
  }
};

/// Calls `done` before start() returns, as a fast endpoint may do.
class InstantEndpoint final : public agents::ModelEndpoint {
public:
  std::string_view kind() const override { return "instant"; }
  void start(ModelRequest request, std::function<void(ModelReply)> done) override {
    done(by_key(request));
  }
  void cancel_all() override {}
};

TEST_F(RunMoney, EveryReplyThatIsHereIsKeptBeforeOneIsUsed) {
  InstantEndpoint endpoint;
  EXPECT_THROW(session(endpoint,
                       [this] {
                         if (model_candidates() > 0) {
                           throw Crash();
                         }
                       }),
               Crash);
  EXPECT_EQ(recorded_keys().size(), 4U) << "all that were in flight";
}

/// Judges no candidate of a model before the store has `wanted` replies.
class PatientLane final : public test::FakeLane {
public:
  PatientLane(std::function<std::size_t()> recorded, std::size_t wanted)
      : recorded_(std::move(recorded)), wanted_(wanted) {}

  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    const std::string& file_name = request.file_name;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (file_name != "baseline.cu" && recorded_() < wanted_ &&
           std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(file_name == "baseline.cu" || recorded_() >= wanted_) << "replies wait for a judge";
    return FakeLane::evaluate(request, stop);
  }

private:
  std::function<std::size_t()> recorded_;
  std::size_t wanted_;
};

TEST_F(RunMoney, ABusyJudgeKeepsNoReplyWaiting) {
  lane_ = [this] {
    return std::make_unique<PatientLane>([this] { return recorded_keys().size(); }, 6);
  };
  ScriptedModel endpoint(by_key);
  EXPECT_EQ(session(endpoint).end, End::Finished);
}

/// Takes a while for each kernel.
class SlowPaidLane final : public test::FakeLane {
public:
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return FakeLane::evaluate(request, stop);
  }
};

TEST_F(RunMoney, AnArchivePaysForFewRepliesThatTheJudgeHasNotSeen) {
  tasks_.resize(1);
  config_.strategy = "archive";
  config_.proposals = 50;
  config_.patience = 5;
  lane_ = [] { return std::make_unique<SlowPaidLane>(); };
  InstantEndpoint endpoint;
  EXPECT_EQ(session(endpoint).end, End::Finished);
  const std::int64_t behind =
      std::int64_t{2} * config_.endpoint.parallel; // replies that wait, and calls
  EXPECT_LE(costs().calls, config_.seeds + config_.patience + behind);
}

TEST_F(RunMoney, WhatWasCutOffIsRemembered) {
  price_ = agents::Price{};
  price_->input = price_->output = 1000;
  config_.endpoint.max_output_tokens = 1000;
  const RunOutcome first = interrupted_session();
  EXPECT_EQ(first.end, End::Interrupted);
  EXPECT_EQ(first.spend.calls, 0);
  EXPECT_EQ(first.spend.unconfirmed.requests, 4);
  EXPECT_GT(first.spend.unconfirmed.tokens, 4000);
  EXPECT_NEAR(first.spend.unconfirmed.dollars,
              static_cast<double>(first.spend.unconfirmed.tokens) / 1000, 1e-9);
  EXPECT_EQ(costs().unconfirmed_tokens, first.spend.unconfirmed.tokens);

  config_.limits.dollars = first.spend.unconfirmed.dollars + 0.5;
  ScriptedModel refused(by_key);
  const RunOutcome second = session(refused);
  EXPECT_EQ(second.end, End::BudgetSpent);
  EXPECT_TRUE(refused.asked().empty());
  EXPECT_NEAR(second.spend.unconfirmed.dollars, first.spend.unconfirmed.dollars, 1e-9);

  config_.limits = {};
  config_.limits.calls = 6;
  ScriptedModel endpoint(by_key);
  const RunOutcome third = session(endpoint);
  EXPECT_EQ(third.end, End::Finished) << "the limit on calls does not count them";
  EXPECT_EQ(third.spend.calls, 6);
  EXPECT_EQ(third.spend.unconfirmed.requests, 4);
  EXPECT_EQ(costs().unconfirmed_sendings, 4) << "also once they have been answered";
}

TEST_F(RunMoney, EachSendingThatWasCutOffCounts) {
  interrupted_session();
  const RunOutcome second = interrupted_session();
  EXPECT_EQ(second.spend.unconfirmed.requests, 8);
  EXPECT_EQ(costs().unconfirmed_sendings, 8);
}

TEST_F(RunMoney, ARecordingBillsNobody) {
  std::vector<agents::RecordedCall> calls;
  for (const char* key : {"a/0/0", "a/1/0", "a/2/0", "b/0/0", "b/1/0", "b/2/0"}) {
    calls.push_back({key, test::ok_reply("no code"), ""});
    calls.back().reply.seconds = 10'000;
  }
  agents::ReplayEndpoint endpoint(std::move(calls), 4, 1);
  RunLoop* loop = nullptr;
  const RunOutcome outcome = session(
      endpoint,
      [&] {
        if (loop != nullptr && has_open_calls()) {
          loop->interrupt();
        }
      },
      [&](RunLoop& started) { loop = &started; });
  EXPECT_EQ(outcome.end, End::Interrupted);
  EXPECT_EQ(outcome.spend.unconfirmed.requests, 0);
  EXPECT_EQ(costs().unconfirmed_sendings, 0);
}

TEST_F(RunMoney, ACallThatIsAnsweredElsewhereWasNotSentFromHere) {
  ScriptedModel deferring([](const ModelRequest&) {
    ModelReply reply;
    reply.status = ModelReply::Status::Deferred;
    return reply;
  });
  EXPECT_EQ(session(deferring).end, End::Waiting);
  EXPECT_EQ(costs().calls, 0) << "no answer is here";
  EXPECT_EQ(costs().unconfirmed_sendings, 0);
}

TEST_F(RunMoney, ACallThatFailedCostsWhatWasCounted) {
  config_.endpoint.parallel = 1;
  ScriptedModel failing([](const ModelRequest& request) {
    ModelReply reply = test::failed_reply("malformed");
    if (request.key == "b/0/0") {
      reply.usage.prompt_tokens = 70;
      reply.usage.completion_tokens = 5;
      reply.dollars = 0.25;
    }
    return request.key.ends_with("/0/0") && request.key != "a/0/0" ? reply : by_key(request);
  });
  const RunOutcome outcome = session(failing);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_EQ(outcome.spend.calls, costs().calls) << "the answered ones";
  EXPECT_GE(outcome.spend.tokens, 75);
  EXPECT_EQ(costs().prompt_tokens + costs().completion_tokens, outcome.spend.tokens);
  EXPECT_DOUBLE_EQ(costs().dollars.value_or(0), outcome.spend.dollars);
  EXPECT_GE(outcome.spend.dollars, 0.25);
  EXPECT_EQ(costs().unconfirmed_sendings, 0) << "the provider has counted it";

  ScriptedModel well(by_key);
  const RunOutcome resumed = session(well);
  EXPECT_EQ(resumed.spend.unconfirmed.requests, 0);
  EXPECT_EQ(costs().prompt_tokens + costs().completion_tokens, resumed.spend.tokens);
  EXPECT_GE(resumed.spend.tokens, outcome.spend.tokens);
  EXPECT_GE(resumed.spend.dollars, 0.25);
}

TEST_F(RunMoney, WhatTheEndpointEstimatesIsKeptApart) {
  config_.endpoint.parallel = 1;
  ScriptedModel breaking([](const ModelRequest& request) {
    ModelReply reply = request.key == "b/0/0" ? test::failed_reply("broke off") : by_key(request);
    reply.estimated = {1, 40, 0.125};
    return reply;
  });
  const RunOutcome outcome = session(breaking);
  const auto sent = static_cast<std::int64_t>(breaking.asked().size());
  EXPECT_EQ(outcome.spend.unconfirmed.requests, sent);
  EXPECT_EQ(costs().unconfirmed_sendings, sent);
  EXPECT_EQ(costs().unconfirmed_tokens, 40 * sent);
  EXPECT_DOUBLE_EQ(costs().unconfirmed_dollars, 0.125 * static_cast<double>(sent));
}

TEST_F(RunMoney, ACallThatWasRefusedCostsNothing) {
  config_.endpoint.parallel = 1;
  ScriptedModel refusing([](const ModelRequest&) { return test::failed_reply("401"); });
  const RunOutcome outcome = session(refusing);
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_EQ(outcome.spend.unconfirmed.requests, 0);
  EXPECT_EQ(costs().calls, 0);
  EXPECT_EQ(costs().unconfirmed_sendings, 0);
}

/// Tests that a run has the same verdicts and texts, whether it pays for replies or reuses them.
class RunReuse : public RunMoney {
protected:
  RunReuse() {
    ScriptedModel endpoint(by_key);
    EXPECT_EQ(session(endpoint).end, End::Finished);
    expected_ = account();
    run_name_ = "again";
    config_.endpoint.reuse = true;
  }

  std::string expected_;
};

TEST_F(RunReuse, IdenticalRequestsAreServedFromTheRecord) {
  ScriptedModel endpoint(by_key);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Finished);
  EXPECT_TRUE(endpoint.asked().empty());
  EXPECT_EQ(outcome.spend.calls, 6);
  EXPECT_EQ(outcome.spend.calls_from_record, 6);
  EXPECT_EQ(outcome.spend.tokens, 0);
  EXPECT_EQ(outcome.spend.dollars, 0);
  EXPECT_EQ(account(), expected_) << "two samples of a prompt stay two samples";
  EXPECT_EQ(costs().dollars, 0.0);
}

TEST_F(RunReuse, WhatTheRecordLacksIsAsked) {
  config_.proposals = 4;
  ScriptedModel endpoint(by_key);
  const RunOutcome outcome = session(endpoint);
  EXPECT_EQ(outcome.end, End::Finished);
  EXPECT_THAT(endpoint.asked(), testing::UnorderedElementsAre("a/3/0", "b/3/0"));
  EXPECT_EQ(outcome.spend.calls_from_record, 6);
  EXPECT_EQ(outcome.spend.tokens, 220);
}

TEST_F(RunReuse, EveryCrashResumesToTheSameReplies) {
  config_.proposals = 4; // replies for two calls are new: the first run that asks for them pays
  std::int64_t writes = 0;
  {
    ScriptedModel endpoint(by_key);
    ASSERT_EQ(session(endpoint, [&] { ++writes; }).end, End::Finished);
  }
  const std::string expected = account();
  for (std::int64_t crash_at = 1; crash_at < writes; crash_at += 3) {
    run_name_ = fmt::format("crash {}", crash_at);
    ScriptedModel first(by_key);
    crash_after(crash_at, first);
    ScriptedModel second(by_key);
    ASSERT_EQ(session(second).end, End::Finished);
    EXPECT_EQ(account(), expected) << "after write " << crash_at;
    EXPECT_TRUE(first.asked().empty() && second.asked().empty());
  }
}

TEST_F(RunMoney, ASessionOfAnAgentGetsItsTaskAndReservesItsDollars) {
  config_.strategy = "one-plus-one";
  config_.endpoint.kind = "agent";
  config_.endpoint.dollars_per_session = 2;
  config_.limits.dollars = 5;
  std::vector<ModelRequest> asked;
  ScriptedModel model([&](const ModelRequest& request) {
    asked.push_back(request);
    ModelReply reply = by_key(request);
    reply.dollars = 2;
    return reply;
  });
  const RunOutcome outcome = session(model);
  ASSERT_EQ(asked.size(), 2U) << "a third session could cost more than is left";
  EXPECT_EQ(outcome.spend.dollars, 4);
  for (const ModelRequest& request : asked) {
    EXPECT_TRUE(request.key.starts_with(request.task + "/"));
    EXPECT_NE(request.kernel.find("winnow"), std::string::npos) << request.kernel;
  }
  EXPECT_NE(asked[0].kernel, asked[1].kernel) << "the second begins from the first one's kernel";
}

} // namespace
} // namespace winnow::harness
