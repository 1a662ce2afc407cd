// Directions of calls in a run: what they have earned is told, and survives the end of a session.
#include "harness/run/run_report.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelRequest;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Call 2 sends the kernel of call 1 again.
agents::ModelReply one_twice(const ModelRequest& request) {
  const int call = request.key[2] - '0'; // "a/CHAIN/0"
  return test::ok_reply(test::reply_text("correct", call == 3   ? 4
                                                    : call == 2 ? 2.1
                                                                : 2 + 0.1 * call));
}

class MissionsRun : public test::RunLoopTest {
protected:
  MissionsRun() {
    tasks_.resize(1);
    config_.chains = 6; // whose first calls have the same words
    config_.proposals = 6;
    config_.endpoint.parallel = 1;
    prompt_ = [](const agents::ProposalContext& context) {
      return std::vector<agents::Message>{{"user", context.mission}};
    };
  }

  RunOutcome run() {
    test::ScriptedModel endpoint([this](const ModelRequest& request) {
      words_.insert(request.messages.front().text);
      return one_twice(request);
    });
    return session(endpoint);
  }

  std::set<std::string> words_; ///< of the calls' directions
};

TEST_F(MissionsRun, AreToldWithWhatTheyHaveEarned) {
  const RunOutcome outcome = run();
  EXPECT_EQ(words_.size(), 6U);
  const std::string table = earnings_table(outcome, config_);
  EXPECT_THAT(table, ContainsRegex("direction +calls +correct +dollars +device s +gain +copies"));
  EXPECT_THAT(table, ContainsRegex("none +1 +1 +.*0\n"));
  EXPECT_THAT(table, ContainsRegex(" +1 +1 +.*x1.00 +1\n")) << "the copy\n" << table;
  EXPECT_GT(recompute_decisions(), 0);
}

TEST_F(MissionsRun, EarnTheSameInARunThatIsKilledAnywhere) {
  const std::string table = earnings_table(run(), config_);
  for (std::int64_t write = 1;; write += 5) {
    forget();
    test::ScriptedModel first(one_twice);
    const bool was_stopped = crash_after(write, first);
    EXPECT_EQ(earnings_table(run(), config_), table) << write;
    if (!was_stopped) {
      return;
    }
  }
}

TEST_F(MissionsRun, CanBeLeftOut) {
  config_.missions = false;
  EXPECT_EQ(earnings_table(run(), config_), "");
  EXPECT_EQ(words_, std::set<std::string>{""});
}

} // namespace
} // namespace winnow::harness
