// The decisions of a run must not depend on the order in which a model replies. When a killed run
// is resumed, the rest of its replies come in another order.
#include "base/text.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>
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
using Order = ScriptedModel::Order;

constexpr int kInFlight = 3;
const Order kFirstKeyFirst = [](const std::string& a, const std::string& b) { return a < b; };
const Order kLastKeyFirst = [](const std::string& a, const std::string& b) { return a > b; };

/// Kernels of one task. Some differ by more than a race can resolve, some by less; some are slow on
/// hidden shapes. So the leader, the races and the promotions depend on which kernels are compared.
class RunOrderTest : public test::RunLoopTest {
protected:
  RunOrderTest() {
    tasks_.resize(1);
    config_.proposals = 9;
    config_.endpoint.parallel = kInFlight;
  }

  /// The third replies to chains 0, 1 and 2 are the last three in the list. best-of-n has nine
  /// chains.
  static ModelReply answer(const ModelRequest& request) {
    static const std::vector<std::string> kReplies{
        test::reply_text("correct", 2.0, 2.0),  test::reply_text("correct", 2.9, 1.5),
        test::reply_text("correct", 2.15, 1.6), test::reply_text("wrong", 0),
        test::reply_text("correct", 3.0, 1.6),  test::reply_text("correct", 2.3, 2.3),
        test::reply_text("correct", 3.3, 1.7),  test::reply_text("correct", 3.1, 3.1),
        test::reply_text("correct", 3.2, 0.8)};
    const int chain = request.key[2] - '0'; // "a/CHAIN/STEP"
    const int step = request.key[4] - '0';
    return test::ok_reply(kReplies.at(static_cast<std::size_t>(chain + 3 * step)));
  }

  /// Kernels for the archive search, whose calls are numbered "a/0/STEP".
  static ModelReply archive_answer(const ModelRequest& request) {
    static const std::vector<std::string> kReplies{test::reply_text("correct", 2.0, 2.0),
                                                   test::reply_text("compile_error", 0),
                                                   test::reply_text("correct", 2.15, 1.6),
                                                   test::reply_text("wrong", 0),
                                                   "I cannot do that.",
                                                   test::reply_text("correct", 2.3, 2.3),
                                                   test::reply_text("correct", 3.3, 1.7),
                                                   test::reply_text("correct", 3.1, 3.1),
                                                   test::reply_text("correct", 3.2, 0.8)};
    return test::ok_reply(kReplies.at(static_cast<std::size_t>(request.key.back() - '0')));
  }

  /// Families, whose best choice is not always the default, among other kernels.
  static ModelReply family_answer(const ModelRequest& request) {
    static const std::vector<std::string> kReplies{
        test::family_reply_text(2.0, 1.2), test::reply_text("wrong", 0),
        test::family_reply_text(2.1, 0.9), test::reply_text("correct", 2.3, 2.3),
        test::family_reply_text(3.0, 1.0), test::family_reply_text(1.0, 2.0)};
    return test::ok_reply(kReplies.at(static_cast<std::size_t>(request.key.back() - '0')));
  }

  void run_whole(const Order& order, const std::string& place) {
    ScriptedModel endpoint(answer);
    endpoint.answer_in(order, kInFlight);
    ASSERT_EQ(session(endpoint).end, End::Finished) << place;
  }

  std::string uninterrupted(const Order& order) {
    forget();
    run_whole(order, "uninterrupted");
    return account();
  }

  /// Runs in a child process that is killed right after its n-th write. False: the run has fewer
  /// writes.
  bool killed_at(int nth, const Order& order, const ScriptedModel::Answer& replies = answer) {
    forget();
    const pid_t child = fork();
    if (child == 0) {
      ScriptedModel endpoint(replies);
      endpoint.answer_in(order, kInFlight);
      int writes = 0;
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

  /// The lines of the first account that the other one lacks.
  static std::string different_lines(const std::string& account, const std::string& other) {
    std::string lines;
    for (const std::string_view line : split_lines(account)) {
      lines += other.find(line) == std::string::npos ? std::string(line) + "\n" : "";
    }
    return lines;
  }

  /// A call takes five writes. So the kills after every third write cover every kind of write.
  void expect_same_decisions_after_any_kill() {
    const std::string expected = uninterrupted(kFirstKeyFirst);
    EXPECT_EQ(different_lines(uninterrupted(kLastKeyFirst), expected), "") << "never killed";
    int kills = 0;
    std::vector<int> differing;
    std::string one_of_them;
    for (int nth = 1; killed_at(nth, kFirstKeyFirst); nth += 3, ++kills) {
      run_whole(kLastKeyFirst, fmt::format("resumed after a kill at write {}", nth));
      EXPECT_GE(recompute_decisions(), 2 * config_.proposals) << "after a kill at write " << nth;
      if (const std::string resumed = account(); resumed != expected) {
        differing.push_back(nth);
        one_of_them = different_lines(resumed, expected) + "instead of\n" +
                      different_lines(expected, resumed);
      }
    }
    EXPECT_GT(kills, 15);
    EXPECT_TRUE(differing.empty())
        << differing.size() << " of " << kills << " kills changed a decision, at writes "
        << fmt::format("{}", fmt::join(differing, " ")) << ". After the last of them:\n"
        << one_of_them;
  }
};

TEST_F(RunOrderTest, ThreeChainsDecideTheSameAfterASigkill) {
  config_.chains = 3;
  expect_same_decisions_after_any_kill();
}

// An archive decides by the order in which results come. The log has this order, so a resumed run
// decides as its own log says; a run with another order of replies may go another way.
TEST_F(RunOrderTest, AnArchiveDecidesAsItsLogSaysAfterASigkill) {
  config_.strategy = "archive";
  config_.seeds = 3;
  int kills = 0;
  for (int nth = 1; killed_at(nth, kFirstKeyFirst, archive_answer); nth += 5, ++kills) {
    ScriptedModel endpoint(archive_answer);
    const std::set<std::string> paid = recorded_keys();
    ASSERT_EQ(session(endpoint).end, End::Finished) << "after a kill at write " << nth;
    EXPECT_EQ(recompute_decisions(), 2 * config_.proposals) << "after a kill at write " << nth;
    for (const std::string& key : endpoint.asked()) {
      EXPECT_FALSE(paid.contains(key)) << key << " was paid twice, after write " << nth;
    }
  }
  EXPECT_GT(kills, 10);
}

/// The best choice of each candidate, and how often each choice was timed.
std::string choices_in(const std::filesystem::path& path) {
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  std::string text;
  for (const store::RunRow& run : store.runs()) {
    for (const store::CandidateState& candidate : store.candidates(run.id)) {
      std::map<std::string, int> timed;
      for (const tasks::Evaluation& trial : store.trials(candidate.row.id)) {
        ++timed[tasks::parameters_text(trial.parameters)];
      }
      text += fmt::format("{}: best {}; timed {}\n", candidate.row.call_key,
                          tasks::parameters_text(candidate.best.value().parameters), timed);
    }
  }
  return text;
}

TEST_F(RunOrderTest, NoChoiceOfAFamilyIsMeasuredTwiceAfterASigkill) {
  config_.proposals = 6;
  ScriptedModel whole(family_answer);
  ASSERT_EQ(session(whole).end, End::Finished);
  const std::string expected = choices_in(store_path());
  EXPECT_THAT(expected, testing::HasSubstr("a/0/0: best P=3; timed {\"P=2\": 2, \"P=3\": 2}"));
  EXPECT_THAT(expected, testing::HasSubstr("a/0/2: best P=1; timed {\"P=2\": 2, \"P=3\": 2}"));
  int kills = 0;
  for (int nth = 1; killed_at(nth, kFirstKeyFirst, family_answer); nth += 6, ++kills) {
    ScriptedModel endpoint(family_answer);
    ASSERT_EQ(session(endpoint).end, End::Finished) << "after a kill at write " << nth;
    EXPECT_EQ(choices_in(store_path()), expected) << "after a kill at write " << nth;
    EXPECT_GE(recompute_decisions(), 20) << "after a kill at write " << nth;
  }
  EXPECT_GT(kills, 15);
}

TEST_F(RunOrderTest, BestOfNDecidesTheSameAfterASigkill) {
  config_.strategy = "best-of-n";
  expect_same_decisions_after_any_kill();
}

} // namespace
} // namespace winnow::harness
