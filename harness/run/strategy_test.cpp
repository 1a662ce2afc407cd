#include "base/error.h"
#include "evaluators/evaluation/evaluator.h"
#include "harness/run/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using tasks::Verdict;

PastAttempt attempt(Verdict verdict, double speedup = 0) {
  PastAttempt result;
  result.evaluation.verdict = verdict;
  result.evaluation.speedup = speedup;
  result.evaluation.evaluator_version = evaluators::kEvaluatorVersion;
  return result;
}

TaskHistory one_chain(std::vector<PastAttempt> attempts) {
  TaskHistory history;
  history.chains.push_back({std::move(attempts), false});
  return history;
}

Proposal only(const std::vector<Proposal>& proposals) {
  EXPECT_EQ(proposals.size(), 1U);
  return proposals.empty() ? Proposal{} : proposals.front();
}

TEST(OnePlusOne, StartsFromTheBaseline) {
  const Proposal proposal = only(make_strategy("one-plus-one", {3, 1})->next({}));
  EXPECT_EQ(proposal.step, 0U);
  EXPECT_FALSE(proposal.best || proposal.previous || proposal.parent);
  EXPECT_EQ(call_key("axpy", proposal), "axpy/0/0");
}

TEST(OnePlusOne, BuildsOnTheFastestCorrectAttempt) {
  const auto strategy = make_strategy("one-plus-one", {4, 1});
  const Proposal proposal = only(
      strategy->next(one_chain({attempt(Verdict::Correct, 2.0), attempt(Verdict::Correct, 1.9)})));
  EXPECT_EQ(proposal.step, 2U);
  EXPECT_EQ(proposal.best, 0U);
  EXPECT_EQ(proposal.previous, 1U) << "5 % slower is worth showing";
  EXPECT_EQ(proposal.parent, 0U);
}

TEST(OnePlusOne, HidesABadlyRegressedAttempt) {
  const auto strategy = make_strategy("one-plus-one", {4, 1});
  const Proposal proposal = only(
      strategy->next(one_chain({attempt(Verdict::Correct, 2.0), attempt(Verdict::Correct, 1.0)})));
  EXPECT_EQ(proposal.parent, 0U);
  EXPECT_FALSE(proposal.previous);
}

TEST(OnePlusOne, RepairsACompileErrorTwice) {
  const auto strategy = make_strategy("one-plus-one", {9, 1});
  std::vector<PastAttempt> attempts{attempt(Verdict::Correct, 2.0)};
  for (std::size_t failures = 1; failures <= 3; ++failures) {
    attempts.push_back(attempt(Verdict::CompileError));
    const Proposal proposal = only(strategy->next(one_chain(attempts)));
    if (failures <= 2) {
      EXPECT_EQ(proposal.parent, failures);
      EXPECT_EQ(proposal.previous, failures);
    } else {
      EXPECT_EQ(proposal.parent, 0U) << "given up: back to the best";
      EXPECT_FALSE(proposal.previous);
    }
    EXPECT_EQ(proposal.best, 0U);
  }
}

TEST(OnePlusOne, RepairsAWrongResultOnce) {
  const auto strategy = make_strategy("one-plus-one", {9, 1});
  EXPECT_EQ(only(strategy->next(one_chain({attempt(Verdict::Wrong)}))).parent, 0U);
  EXPECT_FALSE(
      only(strategy->next(one_chain({attempt(Verdict::Wrong), attempt(Verdict::Wrong)}))).parent);
}

TEST(OnePlusOne, AFailureOfALaterStageIsProgress) {
  const auto strategy = make_strategy("one-plus-one", {9, 1});
  std::vector<PastAttempt> attempts{attempt(Verdict::BadReply), attempt(Verdict::Wrong)};
  EXPECT_EQ(only(strategy->next(one_chain(attempts))).parent, 1U);
  attempts.push_back(attempt(Verdict::CompileError));
  EXPECT_EQ(only(strategy->next(one_chain(attempts))).parent, 2U);
  attempts.push_back(attempt(Verdict::Wrong));
  EXPECT_FALSE(only(strategy->next(one_chain(attempts))).parent) << "four in a row are enough";
}

TEST(OnePlusOne, NeverBuildsOnAFaultOfTheMachine) {
  const auto strategy = make_strategy("one-plus-one", {9, 1});
  const Proposal proposal = only(strategy->next(
      one_chain({attempt(Verdict::CompileError), attempt(Verdict::Infrastructure)})));
  EXPECT_FALSE(proposal.parent || proposal.previous || proposal.best);
}

TEST(OnePlusOne, SharesTheProposalsAmongChains) {
  const auto strategy = make_strategy("one-plus-one", {5, 2});
  TaskHistory history;
  EXPECT_EQ(strategy->next(history).size(), 2U);
  const PastAttempt done = attempt(Verdict::Correct, 1.0);
  history.chains = {{{done, done}, false}, {{done, done}, false}};
  const Proposal left = only(strategy->next(history)); // 3 + 2 steps
  EXPECT_EQ(left.chain, 0U);
  EXPECT_EQ(left.step, 2U);
  history.chains[0].attempts.push_back(done);
  EXPECT_TRUE(strategy->next(history).empty());
}

TEST(OnePlusOne, AChainDoesNotDependOnTheOthers) {
  const auto strategy = make_strategy("one-plus-one", {6, 2});
  TaskHistory history;
  history.chains = {{{attempt(Verdict::Correct, 1.0)}, false}, {{}, false}};
  const Proposal before = strategy->next(history).front();
  history.chains[1].attempts.push_back(attempt(Verdict::Correct, 9.0));
  const Proposal after = strategy->next(history).front();
  EXPECT_EQ(before.best, after.best);
  EXPECT_EQ(before.step, after.step);
}

TEST(OnePlusOne, AnEndedChainAsksNothing) {
  const auto strategy = make_strategy("one-plus-one", {6, 1});
  TaskHistory history = one_chain({attempt(Verdict::Correct, 1.0)});
  history.chains[0].ended = true;
  EXPECT_TRUE(strategy->next(history).empty());
}

TEST(BestOfN, AsksForEverythingAtOnce) {
  const auto strategy = make_strategy("best-of-n", {3, 1});
  TaskHistory history;
  EXPECT_EQ(strategy->next(history).size(), 3U);
  history.chains = {{{attempt(Verdict::Wrong)}, false}, {{}, true}};
  const Proposal left = only(strategy->next(history));
  EXPECT_EQ(call_key("axpy", left), "axpy/2/0");
  EXPECT_FALSE(left.parent || left.previous || left.best);
}

TEST(Strategy, AnUnknownNameGetsTheNearest) {
  try {
    make_strategy("one-plus-on", {});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'one-plus-one'"));
  }
}

} // namespace
} // namespace winnow::harness
