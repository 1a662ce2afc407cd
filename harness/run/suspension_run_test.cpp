// Runs whose fastest kernel is good in its own evaluation only.
#include "harness/run/testing/run_loop_fixture.h"

#include <map>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::HasSubstr;
using testing::Not;
using End = RunOutcome::End;

/// Finds kernels of speed 4 bad whenever they are the incumbent. `is_caught`: and also when they
/// are judged again.
class SuspendingLane : public test::FakeLane {
public:
  SuspendingLane(const bool& is_caught, int& suspensions)
      : is_caught_(is_caught), suspensions_(suspensions) {}
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    std::vector<tasks::Evaluation> made = FakeLane::evaluate(request, stop);
    tasks::Evaluation& evaluation = made.front();
    if (request.incumbent && is_bad(request.incumbent->text)) {
      EXPECT_EQ(request.incumbent->earned.speedup, 4);
      evaluation.race.reset();
      evaluation.suspended = {digest_of(*request.incumbent), "a timed launch was wrong: all zero"};
      ++suspensions_;
    }
    if (is_bad(request.text) && is_caught_ && suspensions_ > 0) {
      evaluation.verdict = tasks::Verdict::Unstable;
      evaluation.speedup = 0;
    }
    return made;
  }

private:
  static bool is_bad(const std::string& text) {
    return text.find("// correct 4 ") != std::string::npos;
  }
  const bool& is_caught_;
  int& suspensions_;
};

ModelReply next_of(const ModelRequest& request) {
  static const std::vector<std::string> kReplies{
      test::reply_text("correct", 2.0, 2.0), test::reply_text("correct", 4.0, 4.0),
      test::reply_text("correct", 2.5, 2.5), test::reply_text("correct", 3.0, 3.0)};
  const std::size_t number = std::stoul(request.key.substr(request.key.rfind('/') + 1));
  return test::ok_reply(kReplies[number % kReplies.size()]);
}

class SuspensionRunTest : public test::RunLoopTest,
                          public testing::WithParamInterface<const char*> {
protected:
  SuspensionRunTest() {
    config_.strategy = GetParam();
    config_.roles = std::vector<std::string>();
    config_.proposals = 4;
    lane_ = [this] { return std::make_unique<SuspendingLane>(is_caught_, suspensions_); };
  }
  RunOutcome finish(const std::function<void()>& after_write = {}) {
    ScriptedModel endpoint(next_of);
    return session(endpoint, after_write);
  }
  std::vector<std::string> verdicts() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    std::vector<std::string> all;
    for (const store::CandidateState& candidate : store.candidates(store.find_run(run_name_)->id)) {
      all.push_back(verdict_of(candidate));
    }
    return all;
  }

  bool is_caught_ = true;
  int suspensions_ = 0;
};

TEST_P(SuspensionRunTest, TheBadIncumbentLosesItsPlaceAndTheRaceIsHeldAgain) {
  ASSERT_EQ(finish().end, End::Finished);
  EXPECT_GT(suspensions_, 0);
  EXPECT_THAT(said_, HasSubstr("is suspended and judged again: a timed launch was wrong"));
  const std::string bad = tasks::kernel_digest(test::kernel_text("correct", 4.0, 4.0), {});
  for (const std::string& verdict : verdicts()) {
    EXPECT_THAT(verdict, Not(HasSubstr("raced against " + bad)));
    EXPECT_THAT(verdict, Not(HasSubstr("not judged")));
  }
  EXPECT_THAT(verdicts(), testing::Contains(HasSubstr("unstable")));
  EXPECT_THAT(verdicts(), testing::Contains(HasSubstr(
                              "correct 3 promoted, raced against " +
                              tasks::kernel_digest(test::kernel_text("correct", 2.5, 2.5), {}))));
  recompute_decisions();
}

TEST_P(SuspensionRunTest, AnIncumbentThatIsGoodAloneIsNotSuspendedForEver) {
  is_caught_ = false;
  ASSERT_EQ(finish().end, End::Finished);
  EXPECT_THAT(said_, HasSubstr("is suspended and judged again"));
  for (const std::string& verdict : verdicts()) {
    EXPECT_THAT(verdict, testing::StartsWith("correct"));
  }
  recompute_decisions();
}

TEST_P(SuspensionRunTest, GoesOnWhereverItsProcessDies) {
  ASSERT_EQ(finish().end, End::Finished);
  for (int nth = 20;; nth += 17) {
    forget();
    suspensions_ = 0;
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
      recompute_decisions();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, SuspensionRunTest, testing::Values("one-plus-one", "archive"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace winnow::harness
