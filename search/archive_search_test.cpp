#include "search/testing/archive_search_fixture.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::ArchiveSearchTest;
using test::failed;
using test::fast;
using test::kACall;
using test::kFirst;
using test::kThisEvaluator;
using testing::Contains;
using testing::ElementsAre;

TEST_F(ArchiveSearchTest, BeginsWithSeedsThatNeedNoResults) {
  begin({.proposals = 9, .seeds = 3});
  std::set<std::string> keys;
  for (int i = 0; i < 3; ++i) {
    const Ask seed = ask();
    EXPECT_EQ(seed.op, "seed");
    EXPECT_THAT(seed.parents, ElementsAre(kFirst));
    keys.insert(seed.key);
  }
  EXPECT_THAT(keys, ElementsAre("axpy/0/0", "axpy/0/1", "axpy/0/2"));
  EXPECT_FALSE(search_->decide(kACall)) << "there is nothing to build on yet";
  search_->apply(Unanswered{"axpy/0/0"});
  search_->apply(Unanswered{"axpy/0/1"});
  EXPECT_FALSE(search_->decide(kACall));
  search_->apply(Unanswered{"axpy/0/2"});
  EXPECT_NE(ask().op, "seed") << "no result will come: builds on the baseline";
}

TEST_F(ArchiveSearchTest, CallsDoNotWaitOnceThereIsAKernel) {
  begin({.proposals = 9, .seeds = 3});
  const Ask first = ask();
  ask();
  ask();
  const CandidateId kernel = answer(first, fast(2));
  EXPECT_THAT(ask().parents, ElementsAre(kernel)) << "two seeds are still under way";
}

TEST_F(ArchiveSearchTest, NoSecondCallBuildsOnAParentWhileAnotherKernelIsJudged) {
  begin({.proposals = 9, .seeds = 2});
  const Ask first = ask();
  const Ask second = ask();
  const CandidateId kernel = answer(first, fast(2, "tensor cores"));
  search_->apply(Added{++last_, second.key, 0.01});
  const auto evaluate = search_->decide({});
  search_->apply(Decided{evaluate.value(), {}});
  EXPECT_THAT(ask().parents, ElementsAre(kernel));
  EXPECT_FALSE(search_->decide(kACall)) << "the other seed will be a parent soon";
  search_->apply(Evaluated{last_, fast(1.8, "shared memory")});
  EXPECT_THAT(ask().parents, ElementsAre(last_));
}

TEST_F(ArchiveSearchTest, PromptsTellOfFamiliesAndOfIdeasThatMadeTheirParentSlower) {
  begin({.proposals = 40, .seeds = 4});
  const Ask first = ask(), second = ask(), third = ask();
  EXPECT_TRUE(third.families.empty());
  answer(first, fast(2, "shared memory"));
  const CandidateId best = answer(second, fast(4, "tensor cores"));
  const CandidateId failure = answer(third, fast(0.6, "atomics"));
  const Ask seed = ask();
  EXPECT_THAT(seed.families, ElementsAre(Card{best, 2}, Card{best - 1, 1}, Card{failure, 3}));
  EXPECT_THAT(seed.failures, ElementsAre(Card{failure, 3}));
  for (int i = 0; i < 8; ++i) {
    const Ask call = ask();
    EXPECT_TRUE(call.families.empty());
    answer(call, fast(0.5));
  }
  const std::vector<Card> failures = ask().failures;
  EXPECT_EQ(failures.size(), 6);
  EXPECT_EQ(failures.back().candidate, last_);
}

TEST_F(ArchiveSearchTest, BuildsOnTheBestAndSpreadsOverCells) {
  begin({.proposals = 40, .seeds = 2});
  const Ask first = ask();
  const Ask second = ask();
  const CandidateId best = answer(first, fast(4, "tensor cores"));
  const CandidateId other = answer(second, fast(3.5, "shared memory"));
  EXPECT_THAT(search_->cells(), Contains(std::pair(std::string("tensor cores"), best)));
  EXPECT_THAT(search_->cells(), Contains(std::pair(std::string("shared memory"), other)));
  const Ask third = ask();
  EXPECT_EQ(third.parents.front(), best);
  EXPECT_EQ(third.best, (Card{best, 1}));
  EXPECT_EQ(third.previous, (Card{best, 1}));
  EXPECT_NE(ask().parents.front(), best) << "a call builds on it already";
  std::set<CandidateId> parents;
  for (int i = 0; i < 20; ++i) {
    const Ask next = ask();
    parents.insert(next.parents.front());
    answer(next, fast(1.5, "tensor cores"));
  }
  EXPECT_THAT(parents, Contains(best));
  EXPECT_THAT(parents, Contains(other)) << "calls without gain count as visits";
}

TEST_F(ArchiveSearchTest, OnlyPromotedKernelsOwnCellsAndTheBestOneKeepsIt) {
  begin({.proposals = 40, .seeds = 6});
  std::vector<Ask> asks;
  for (int i = 0; i < 6; ++i) {
    asks.push_back(ask());
  }
  answer(asks[0], failed(Verdict::Wrong));
  Outcome slow_elsewhere = fast(9, "x");
  slow_elsewhere.promoted = false;
  answer(asks[1], slow_elsewhere);
  EXPECT_FALSE(search_->cells().contains("x"));
  const CandidateId owner = answer(asks[2], fast(2, "x"));
  answer(asks[3], fast(1.9, "x"));
  Outcome lucky = fast(2.5, "x");
  lucky.speedup_bounds = {1.2, 4};
  answer(asks[4], lucky);
  EXPECT_EQ(search_->cells().at("x"), owner) << "quality is a lower bound";
  const CandidateId better = answer(asks[5], fast(3, "x"));
  EXPECT_EQ(search_->cells().at("x"), better);
}

TEST_F(ArchiveSearchTest, CandidatesRaceAgainstTheLeader) {
  begin({.proposals = 40, .seeds = 3});
  const Ask first = ask();
  const Ask second = ask();
  const CandidateId leader = answer(first, fast(2));
  search_->apply(Added{++last_, second.key, 0});
  EXPECT_EQ(std::get<Evaluate>(search_->decide({}).value()).incumbent, leader);
  Outcome faster = fast(3);
  EXPECT_TRUE(search_->promotes(last_, faster));
  search_->apply(Decided{Evaluate{last_, leader}, {}});
  faster.hidden_speedup = 0.5;
  EXPECT_TRUE(search_->promotes(last_, faster)) << "the leader was not timed there";
}

TEST_F(ArchiveSearchTest, RepairsFailuresInALaneOfTheirOwn) {
  begin({.proposals = 100, .seeds = 1});
  const CandidateId broken = answer(ask(), failed(Verdict::CompileError));
  const Ask first = ask();
  EXPECT_EQ(first.op, "repair");
  EXPECT_THAT(first.parents, ElementsAre(broken));
  const CandidateId still = answer(first, failed(Verdict::CompileError));
  int repairs = 0;
  for (int i = 0; i < 30; ++i) {
    const Ask next = ask();
    if (next.op == "repair") {
      ++repairs;
      EXPECT_THAT(next.parents, ElementsAre(still)) << "at most two repairs of a failure";
      answer(next, failed(Verdict::CompileError));
    } else {
      answer(next, fast(1 + 0.01 * i));
    }
  }
  EXPECT_EQ(repairs, 1);
}

TEST_F(ArchiveSearchTest, RepairsAreAShareOfTheCallsAtMost) {
  for (const double share : {0.2, 0.35}) {
    Policy policy = preset("archive").policy;
    std::get<ArchivePolicy>(policy.population).repair_share = share;
    begin({.proposals = 100, .seeds = 1}, policy);
    int repairs = 0;
    for (int i = 0; i < 50; ++i) {
      const Ask next = ask();
      repairs += next.op == "repair" ? 1 : 0;
      answer(next, failed(Verdict::BadPlan));
    }
    EXPECT_GE(repairs, 50 * share / 2);
    EXPECT_LE(repairs, 50 * share + 1);
  }
}

TEST_F(ArchiveSearchTest, NeverBuildsOnAKernelMuchSlowerThanItsParent) {
  begin({.proposals = 100, .seeds = 1});
  const CandidateId good = answer(ask(), fast(4, "good"));
  const CandidateId bad = answer(ask(), fast(2, "bad"));
  EXPECT_EQ(search_->cells().at("bad"), bad);
  for (int i = 0; i < 30; ++i) {
    const Ask next = ask();
    EXPECT_NE(next.parents.front(), bad);
    answer(next, fast(3.9, "good"));
  }
  EXPECT_EQ(search_->cells().at("good"), good);
}

TEST_F(ArchiveSearchTest, UsesEveryOperator) {
  begin({.proposals = 200, .seeds = 2});
  const Ask first = ask();
  const Ask second = ask();
  answer(first, fast(4, "a"));
  answer(second, fast(2.5, "b"));
  std::map<std::string, int> operators;
  for (int i = 0; i < 60; ++i) {
    const Ask next = ask();
    ++operators[next.op];
    if (next.op == "crossover") {
      ASSERT_EQ(next.parents.size(), 2U);
      EXPECT_EQ(next.second->candidate, next.parents[1]);
      EXPECT_NE(next.parents[0], next.parents[1]);
    } else if (next.op == "contrast") {
      EXPECT_TRUE(next.second);
      EXPECT_EQ(next.parents.size(), 1U);
    }
    answer(next, i % 7 == 0 ? failed(Verdict::Wrong) : fast(3, "a"));
  }
  for (const char* op : {"diff", "rewrite", "crossover", "contrast", "repair"}) {
    EXPECT_GT(operators[op], 0) << op;
  }
  EXPECT_GT(operators["diff"], operators["crossover"]);
}

TEST_F(ArchiveSearchTest, StartsFromTheKernelThatTheUserGives) {
  begin({.proposals = 9, .seeds = 3});
  const CandidateId given = ++last_;
  search_->apply(Added{given, "", 0});
  judge(given, fast(3));
  const Ask first = ask();
  EXPECT_NE(first.op, "seed");
  EXPECT_THAT(first.parents, ElementsAre(given));
  EXPECT_EQ(first.best->candidate, given);
}

TEST_F(ArchiveSearchTest, AGivenKernelThatIsWrongIsNoParent) {
  begin({.proposals = 9, .seeds = 3});
  search_->apply(Added{++last_, "", 0});
  judge(last_, failed(Verdict::Wrong));
  EXPECT_EQ(search_->find(ask().parents.front())->id, kFirst);
}

TEST_F(ArchiveSearchTest, StopsNearTheRooflineAndWhenNothingIsGained) {
  begin({.proposals = 100, .seeds = 1, .enough_speed_of_light = 0.9, .patience = 5});
  Outcome near = fast(4);
  near.speed_of_light = 0.89;
  answer(ask(), near);
  EXPECT_EQ(search_->why_done(), "");
  for (int i = 0; i < 5; ++i) {
    answer(ask(), fast(4));
  }
  EXPECT_EQ(search_->why_done(), "the last 5 calls gained nothing");
  EXPECT_FALSE(search_->decide(kACall));

  begin({.proposals = 100, .seeds = 1, .enough_speed_of_light = 0.9, .patience = 5});
  last_ = kFirst;
  near.speed_of_light = 0.91;
  answer(ask(), near);
  EXPECT_EQ(search_->why_done(), "the best kernel is near the roofline");
  EXPECT_FALSE(search_->decide(kACall));
}

TEST_F(ArchiveSearchTest, KernelsOfAnotherEvaluatorDoNotCount) {
  begin({.proposals = 100, .seeds = 1});
  Outcome old = fast(9, "old");
  old.evaluator_version = kThisEvaluator - 1;
  answer(ask(), old);
  EXPECT_FALSE(search_->cells().contains("old"));
  const Ask next = ask();
  EXPECT_EQ(next.parents.front(), kFirst);
  EXPECT_FALSE(next.best);
  EXPECT_EQ(search_->earnings().front().log_gain, 0);
}

TEST_F(ArchiveSearchTest, KeepsOneKernelForEachOfManyCells) {
  begin({.proposals = 2000, .seeds = 3});
  for (int i = 0; i < 1000; ++i) {
    answer(ask(), i % 5 == 0 ? failed(Verdict::Wrong)
                             : fast(1 + 0.001 * i, "cell " + std::to_string(i % 200)));
  }
  EXPECT_EQ(search_->cells().size(), 161U) << "160, and the baseline's";
}

} // namespace
} // namespace winnow::search
