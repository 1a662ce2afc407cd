// A run by each strategy that is stopped and resumed, and the prompts that the run asks for.
#include "harness/run/testing/run_loop_fixture.h"
#include "search/policy.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using End = RunOutcome::End;

/// Failures of three kinds, families, and kernels that are faster and slower, by the call's number.
ModelReply reply_of(const ModelRequest& request) {
  static const std::vector<std::string> kReplies{
      test::reply_text("correct", 2.0, 2.0), test::reply_text("compile_error", 0),
      test::family_reply_text(1.4, 1.3),     test::reply_text("wrong", 0),
      test::reply_text("correct", 4.0, 4.0), "I cannot do that.",
      test::reply_text("correct", 1.2, 1.2)};
  const std::size_t slash = request.key.rfind('/');
  const std::size_t chain = std::stoul(request.key.substr(request.key.find('/') + 1));
  const std::size_t number = std::stoul(request.key.substr(slash + 1)) + chain;
  ModelReply reply = test::ok_reply(kReplies[number % kReplies.size()]);
  reply.dollars = 0.01;
  return reply;
}

class StrategyCrashTest : public test::RunLoopTest,
                          public testing::WithParamInterface<search::Preset> {
protected:
  StrategyCrashTest() {
    tasks_.resize(1);
    config_.strategy = GetParam().name;
    config_.roles = std::vector<std::string>(); // RoleRunTest has roles
    config_.proposals = 14;
    config_.endpoint.parallel = 3;
  }

  RunOutcome finish() {
    ScriptedModel endpoint(reply_of);
    RunOutcome outcome = session(endpoint);
    asked_ = endpoint.asked();
    return outcome;
  }

  /// Runs in a child process, which is killed at this write. False: the run has fewer writes.
  bool killed_at(int nth) {
    forget();
    const pid_t child = fork();
    if (child == 0) {
      int writes = 0;
      ScriptedModel endpoint(reply_of);
      session(endpoint, [&] {
        if (++writes == nth) {
          raise(SIGKILL);
        }
      });
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  std::vector<std::string> asked_; ///< keys, of the last session that finish() ran
};

TEST_P(StrategyCrashTest, ResumesAfterASigkillAndDecidesAsItsLogSays) {
  int kills = 0;
  for (int nth = 5; killed_at(nth); nth += 71, ++kills) {
    const std::set<std::string> paid = recorded_keys();
    ASSERT_EQ(finish().end, End::Finished) << "after a kill at write " << nth;
    for (const std::string& key : asked_) {
      EXPECT_FALSE(paid.contains(key)) << key << " was paid twice";
    }
    EXPECT_GE(recompute_decisions(), 2 * config_.proposals);
    EXPECT_EQ(recorded_keys().size(), static_cast<std::size_t>(config_.proposals));
  }
  EXPECT_GT(kills, 1);
}

TEST_P(StrategyCrashTest, WritesAPromptForEachCall) {
  std::size_t prompts = 0;
  const agents::PromptTemplates templates;
  prompt_ = [&](const agents::ProposalContext& context) {
    ++prompts;
    return templates.proposal(context); // throws if the operator lacks a kernel
  };
  ASSERT_EQ(finish().end, End::Finished);
  EXPECT_EQ(prompts, static_cast<std::size_t>(config_.proposals));
}

INSTANTIATE_TEST_SUITE_P(Strategies, StrategyCrashTest, testing::ValuesIn(search::presets()),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace winnow::harness
