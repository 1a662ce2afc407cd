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
