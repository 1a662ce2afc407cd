#include "remote/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using Kind = Ruling::Kind;
using tasks::Evaluation;
using tasks::Verdict;

Evaluation timed(double low, double high) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::Correct;
  evaluation.speedup = (low + high) / 2;
  evaluation.speedup_bounds = {low, high};
  return evaluation;
}

Evaluation failed(Verdict verdict) {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  return evaluation;
}

Answer of(const std::string& worker, const Evaluation& evaluation, bool trusted = false) {
  return {worker, trusted, {"id", worker, {evaluation}, {}}};
}

TEST(Disagreement, IsAboutVerdicts) {
  EXPECT_EQ(disagreement(timed(1, 1.1), failed(Verdict::Wrong)),
            "the verdicts 'correct' and 'wrong'");
  EXPECT_EQ(disagreement(failed(Verdict::Crashed), failed(Verdict::Timeout)), "");
}

TEST(Disagreement, IsAboutTimesThatAreFarApart) {
  EXPECT_EQ(disagreement(timed(1.19, 1.21), timed(2.39, 2.41)), "the speedups 1.2 and 2.4");
  EXPECT_EQ(disagreement(timed(2.39, 2.41), timed(1.19, 1.21)), "the speedups 2.4 and 1.2");
  EXPECT_EQ(disagreement(timed(1.19, 1.21), timed(1.27, 1.29)), "") << "machines differ";
  EXPECT_EQ(disagreement(timed(1, 1.4), timed(2, 2.6)), "") << "less than twice the width";
  Evaluation unknown = timed(0, 0);
  unknown.speedup = 2;
  EXPECT_EQ(disagreement(unknown, timed(1.19, 1.21)), "") << "few samples";
}

TEST(Ruling, TheOddOneOfThree) {
  const Answer right = of("a", timed(1.2, 1.22)), liar = of("b", timed(2.4, 2.44)),
               third = of("c", timed(1.21, 1.23));
  EXPECT_EQ(rule({right}, true).kind, Kind::Counts);
  EXPECT_EQ(rule({right, third}, true).kind, Kind::Counts);
  EXPECT_EQ(rule({right, liar}, true).kind, Kind::AskThird);
  EXPECT_EQ(rule({right, liar}, false).kind, Kind::NoResult);
  EXPECT_EQ(rule({right, liar, third}, false).odd, 1U);
  const Ruling against_first = rule({liar, right, third}, false);
  EXPECT_EQ(against_first.odd, 0U);
  EXPECT_EQ(against_first.counts, 2U);
  EXPECT_FALSE(against_first.may_be_unstable);
  EXPECT_EQ(rule({liar, right, of("c", timed(5, 5.1))}, false).kind, Kind::NoResult);
}

TEST(Ruling, OnACpuTheSpeedOfNoAnswerIsALie) {
  // Two honest answers about one kernel on two cores with twenty busy programs.
  Evaluation slow = timed(8.1, 8.3), fast = timed(90.4, 90.6), wrong = failed(Verdict::Wrong);
  slow.device = fast.device = wrong.device = "cpu";
  const Ruling two = rule({of("a", fast), of("b", slow)}, true);
  EXPECT_EQ(two.kind, Kind::Counts);
  EXPECT_EQ(two.odd, std::nullopt);
  EXPECT_TRUE(two.is_timing_doubtful);
  EXPECT_EQ(two.counts, 1U) << "the lower speedup";
  EXPECT_EQ(rule({of("a", fast, true), of("b", slow)}, true).counts, 0U) << "the trusted worker";
  EXPECT_FALSE(rule({of("a", slow), of("b", slow)}, true).is_timing_doubtful);
  EXPECT_EQ(rule({of("a", fast), of("b", wrong)}, true).kind, Kind::AskThird);
  const Ruling three = rule({of("a", fast), of("b", wrong), of("c", slow)}, false);
  EXPECT_EQ(three.odd, 1U);
  EXPECT_EQ(three.counts, 2U);
  EXPECT_FALSE(three.is_timing_doubtful);
}

TEST(Ruling, ATrustedWorkerDecidesIfThereIsNoThird) {
  const Answer liar = of("a", timed(2.4, 2.44)), trusted = of("b", timed(1.2, 1.22), true);
  const Ruling ruling = rule({liar, trusted}, false);
  EXPECT_EQ(ruling.kind, Kind::Counts);
  EXPECT_EQ(ruling.counts, 1U);
  EXPECT_EQ(ruling.odd, 0U);
}

TEST(Ruling, AnUnstableKernelMayDeceiveAnHonestWorker) {
  EXPECT_TRUE(rule({of("a", timed(1, 1.1)), of("b", failed(Verdict::Unstable)),
                    of("c", failed(Verdict::Wrong))},
                   false)
                  .may_be_unstable);
}

} // namespace
} // namespace winnow::remote
