// The first decisions of the published loops without an archive, as their papers tell them.
#include "search/testing/preset_search_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using test::kFirst;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PresetLineageTest : public test::PresetSearchTest {};

/// A call of a loop: its operator, and the kernel that it builds on.
void expect_call(const Ask& ask, const std::string& op, CandidateId parent) {
  EXPECT_EQ(ask.op, op) << ask.key;
  EXPECT_THAT(ask.parents, ElementsAre(parent)) << ask.key;
}

CandidateId shown(const std::optional<Card>& card) {
  return card ? card->candidate : 0;
}

TEST_F(PresetLineageTest, MetalSciShowsTheIncumbentTheLatestAttemptAndEightLines) {
  begin("metal-sci");
  Ask call = ask();
  expect_call(call, "improve", kFirst);
  EXPECT_TRUE(waits()) << "(1+1): one call at a time";
  const CandidateId first = answer(call, fast(2));
  call = ask();
  expect_call(call, "improve", first);
  const CandidateId broken = answer(call, failed(Verdict::CompileError));
  call = ask();
  expect_call(call, "improve", first); // strict promotion: the parent stays
  EXPECT_EQ(shown(call.best), first);
  EXPECT_EQ(shown(call.previous), broken);
  const CandidateId slow = answer(call, fast(0.5));
  call = ask();
  expect_call(call, "improve", first);
  EXPECT_EQ(shown(call.previous), slow) << "it is shown, though much slower";
  const CandidateId wrong = answer(call, failed(Verdict::Wrong));
  for (int i = 0; i < 4; ++i) {
    call = ask();
    expect_call(call, "improve", first);
    answer(call, failed(Verdict::Wrong));
  }
  EXPECT_NE(shown(ask().previous), wrong);
  begin("metal-sci");
  for (int i = 0; i < 9; ++i) {
    call = ask();
    answer(call, fast(2 + i));
  }
  call = ask();
  expect_call(call, "improve", last_);
  EXPECT_THAT(call.history, SizeIs(8));
  EXPECT_EQ(call.older, 1);
}

TEST_F(PresetLineageTest, CudaForgeAlwaysTakesTheNewestKernelAndShowsNothingElse) {
  begin("cudaforge");
  Ask call = ask();
  expect_call(call, "seed", kFirst); // round 0: one shot
  const std::vector<Outcome> rounds{
      failed(Verdict::CompileError), failed(Verdict::Wrong), fast(2), fast(0.4),
      failed(Verdict::Crashed),      failed(Verdict::Wrong), fast(3), fast(2.5)};
  for (const Outcome& outcome : rounds) {
    const CandidateId newest = answer(call, outcome);
    call = ask();
    // The judge asks for a repair of a broken kernel, otherwise for one change.
    expect_call(call, outcome.verdict == Verdict::Correct ? "rewrite" : "repair", newest);
    EXPECT_FALSE(call.best);
    EXPECT_THAT(call.history, IsEmpty());
    EXPECT_EQ(call.older, 0);
    EXPECT_TRUE(waits());
  }
}

TEST_F(PresetLineageTest, AstraBeginsFromTheExistingKernelAndKeepsALog) {
  begin("astra");
  Ask call = ask();
  expect_call(call, "rewrite", kFirst);
  const std::vector<Outcome> rounds{fast(1.2), fast(0.9), failed(Verdict::Wrong), fast(1.3)};
  std::size_t round = 0;
  for (const Outcome& outcome : rounds) {
    const CandidateId newest = answer(call, outcome);
    call = ask();
    expect_call(call, outcome.verdict == Verdict::Correct ? "rewrite" : "repair", newest);
    EXPECT_THAT(call.history, SizeIs(++round));
  }
}

TEST_F(PresetLineageTest, AstraBeginsFromTheUsersKernelIfThereIsOne) {
  begin("astra");
  apply(Added{++last_, "", 0});
  EXPECT_TRUE(std::holds_alternative<Evaluate>(search_->decide(capacity_).value()));
  judge(fast(1.4));
  expect_call(ask(), "rewrite", last_);
}

TEST_F(PresetLineageTest, FsrCarriesOnTheFastestKernelOfEachRound) {
  begin("fsr");
  std::vector<Ask> round = asks(4); // N candidates from one prompt
  EXPECT_TRUE(waits()) << "the next round begins when all have results";
  for (const Ask& call : round) {
    expect_call(call, "seed", kFirst);
    EXPECT_THAT(call.history, IsEmpty());
  }
  // No candidate passes: code, errors and history go into the next prompt.
  for (const Ask& call : round) {
    EXPECT_TRUE(waits());
    answer(call, failed(Verdict::CompileError));
  }
  CandidateId failure = last_ + 1;
  round = asks(4);
  EXPECT_TRUE(waits());
  for (const Ask& call : round) { // one each, so that no two ask the same
    expect_call(call, "repair", --failure);
    EXPECT_THAT(call.history, SizeIs(4));
  }
  answer(round[0], fast(1.5));
  const CandidateId fastest = answer(round[1], fast(2));
  answer(round[2], failed(Verdict::Wrong));
  answer(round[3], fast(1.1));
  for (const Ask& call : asks(2)) { // the first ten decisions
    expect_call(call, "features", fastest);
    EXPECT_FALSE(call.best);
  }
}

TEST_F(PresetLineageTest, FsrTakesTheFastestOfTheRoundEvenIfAnEarlierOneWasFaster) {
  begin("fsr");
  for (const Ask& call : asks(4)) {
    answer(call, fast(3));
  }
  for (const Ask& call : asks(4)) {
    answer(call, fast(1 + 0.1 * static_cast<double>(last_)));
  }
  expect_call(ask(), "features", last_);
}

TEST_F(PresetLineageTest, ACallOfARoundKnowsNoResultOfItsRound) {
  begin("fsr");
  answer(ask(), fast(2));
  expect_call(ask(), "seed", kFirst);
}

TEST_F(PresetLineageTest, ARoundIsAskedWholeAndWaitsForACallWithoutAReply) {
  begin("fsr");
  const Ask silent = ask();
  apply(Unanswered{silent.key});
  for (const Ask& call : asks(3)) {
    answer(call, fast(2));
  }
  EXPECT_TRUE(waits());
  apply(Resumed{});
  const CandidateId late = answer(silent, fast(3));
  expect_call(ask(), "features", late);
}

TEST_F(PresetLineageTest, MaxRewardAlsoShowsTheBestKernelSoFar) {
  begin("max-reward");
  const std::vector<Ask> round = asks(4);
  for (const Ask& call : round) {
    expect_call(call, "seed", kFirst);
  }
  answer(round[0], fast(2));
  const CandidateId best = answer(round[1], fast(3));
  answer(round[2], failed(Verdict::Wrong));
  answer(round[3], fast(1.4));
  for (const Ask& call : asks(4)) {
    expect_call(call, "improve", best);
    EXPECT_EQ(shown(call.best), best);
    answer(call, fast(1 + 0.1 * static_cast<double>(last_)));
  }
  const CandidateId detour = last_;
  for (const Ask& call : asks(2)) { // the best kernel is still there
    EXPECT_EQ(shown(call.previous), detour);
    EXPECT_EQ(shown(call.best), best);
  }
}

TEST_F(PresetLineageTest, BestOfNBeginsAllCallsAtOnce) {
  begin("best-of-n", 10);
  for (const Ask& call : asks(10)) {
    expect_call(call, "improve", kFirst);
    EXPECT_THAT(call.history, IsEmpty());
  }
  EXPECT_TRUE(waits());
}

Outcome lit(double speedup, double speed_of_light) {
  Outcome made = fast(speedup);
  made.speed_of_light = speed_of_light;
  return made;
}

TEST_F(PresetLineageTest, OnePlusOneAsksForFirstRepliesAsLongAsTheyGain) {
  begin("one-plus-one");
  std::vector<Ask> firsts{ask()};
  EXPECT_TRUE(waits()) << "for the first one";
  answer(firsts[0], lit(2, 0.2));
  firsts = asks(2);
  EXPECT_TRUE(waits()) << "both may gain nothing";
  const CandidateId best = answer(firsts[0], lit(3, 0.3));
  answer(firsts[1], lit(2.5, 0.25));
  const Ask last = ask();
  EXPECT_TRUE(waits());
  for (const Ask& call : {firsts[0], firsts[1], last}) {
    expect_call(call, "improve", kFirst);
    EXPECT_THAT(call.history, IsEmpty());
  }
  answer(last, failed(Verdict::Unsupported)); // the second in a row
  Ask call = ask();
  expect_call(call, "insights", best);
  EXPECT_EQ(shown(call.previous), best);
  EXPECT_THAT(call.history, SizeIs(4));
  EXPECT_THAT(call.families, ElementsAre(Card{2, 1}, Card{4, 3})) << "the others that work";
  EXPECT_TRUE(waits());
  const CandidateId better = answer(call, lit(4, 0.4));
  call = ask();
  expect_call(call, "insights", better);
  EXPECT_THAT(call.families, SizeIs(3));
}

TEST_F(PresetLineageTest, AnOpeningNeedsAFirstReplyThatIsGoodAndCalls) {
  begin("one-plus-one");
  const CandidateId first = answer(ask(), lit(2, 0.09));
  expect_call(ask(), "improve", first); // far from the bound
  begin("one-plus-one");
  const CandidateId wrong = answer(ask(), failed(Verdict::Wrong));
  expect_call(ask(), "improve", wrong); // a repair
  begin("one-plus-one", 6);
  answer(ask(), lit(2, 0.5));
  const Ask second = ask();
  expect_call(second, "improve", kFirst);
  EXPECT_TRUE(waits()) << "a third of the calls";
  const CandidateId best = answer(second, lit(3, 0.6));
  expect_call(ask(), "insights", best);
  begin(preset("one-plus-one").policy, {.proposals = 100, .lineages = 2});
  answer(ask(), lit(2, 0.5));
  answer(ask(), lit(3, 0.5));
  EXPECT_EQ(ask().parents.front(), CandidateId{2}) << "chains are many first replies already";
}

TEST_F(PresetLineageTest, AKernelNearTheBoundEndsTheSearch) {
  for (const char* name : {"one-plus-one", "best-of-n", "fsr"}) {
    begin(preset(name).policy, {.proposals = 9, .enough_speed_of_light = 0.95});
    Outcome near = fast(2);
    near.speed_of_light = 0.94;
    answer(ask(), near);
    EXPECT_FALSE(search_->has_enough()) << name;
    near = fast(3);
    near.speed_of_light = 0.96;
    answer(ask(), near);
    EXPECT_TRUE(search_->has_enough()) << name;
    EXPECT_EQ(search_->why_done(), "the best kernel is near the roofline") << name;
    EXPECT_TRUE(waits()) << name;
  }
}

TEST_F(PresetLineageTest, OnePlusOneRepairsAndHidesRegressions) {
  begin("one-plus-one");
  const CandidateId first = answer(ask(), fast(2));
  Ask call = ask();
  expect_call(call, "improve", first);
  const CandidateId broken = answer(call, failed(Verdict::CompileError));
  call = ask();
  expect_call(call, "improve", broken);
  EXPECT_EQ(shown(call.previous), broken);
  answer(call, fast(1));
  call = ask();
  expect_call(call, "improve", first);
  EXPECT_FALSE(call.previous);
}

} // namespace
} // namespace winnow::search
