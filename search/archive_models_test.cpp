// The archive search with several models and with prices.
#include "search/testing/archive_search_fixture.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using test::kACall;

class ArchiveModelsTest : public test::ArchiveSearchTest {};

TEST_F(ArchiveModelsTest, SeedsAskTheModelsInTurn) {
  begin({.proposals = 9, .models = {"cheap", "dear"}, .seeds = 3});
  EXPECT_EQ(ask().model, "cheap");
  EXPECT_EQ(ask().model, "dear");
  EXPECT_EQ(ask().model, "cheap");
}

TEST_F(ArchiveModelsTest, OneModelIsNoChoice) {
  begin({.proposals = 9, .models = {"only"}, .seeds = 1});
  const Ask seed = ask();
  EXPECT_EQ(seed.model, "");
  answer(seed, fast(2));
  EXPECT_EQ(ask().model, "");
}

TEST_F(ArchiveModelsTest, PrefersTheModelThatEarnsMore) {
  begin({.proposals = 100, .models = {"cheap", "dear"}, .seeds = 2});
  std::map<std::string, int> calls;
  double best = 2;
  for (int i = 0; i < 60; ++i) {
    const Ask next = ask();
    ++calls[next.model];
    const bool gains = next.model == "dear" && i % 4 == 0;
    best *= gains ? 1.2 : 1;
    answer(next, gains ? fast(best) : fast(1.5), next.model == "dear" ? 0.02 : 0.01);
  }
  EXPECT_GT(calls["dear"], 2 * calls["cheap"]);
  EXPECT_GT(calls["cheap"], 3) << "it is tried now and then";
}

TEST_F(ArchiveModelsTest, TheModelThatEarnsMostRepairs) {
  begin({.proposals = 100, .models = {"cheap", "dear"}, .seeds = 4});
  double best = 1;
  for (int i = 0; i < 4; ++i) {
    const Ask seed = ask();
    answer(seed, seed.model == "dear" ? fast(best *= 1.5) : fast(1));
  }
  answer(ask(), failed(Verdict::CompileError));
  const Ask repair = ask();
  EXPECT_EQ(repair.op, "repair");
  EXPECT_EQ(repair.model, "dear");
}

TEST_F(ArchiveModelsTest, TellsWhatEachArmHasEarned) {
  begin({.proposals = 9, .models = {"cheap", "dear"}, .seeds = 3});
  const Ask first = ask();
  const Ask second = ask();
  Outcome doubled = fast(2);
  doubled.device_seconds = 3;
  answer(first, doubled, 0.25);
  answer(second, failed(Verdict::Wrong), 1.5);
  ask();
  const std::vector<Earnings> earned = search_->earnings();
  ASSERT_EQ(earned.size(), 2U);
  EXPECT_EQ(earned[0].op, "seed");
  EXPECT_EQ(earned[0].model, "cheap");
  EXPECT_EQ(earned[0].calls, 2) << "one of them is under way";
  EXPECT_EQ(earned[0].correct, 1);
  EXPECT_DOUBLE_EQ(earned[0].dollars, 0.25);
  EXPECT_DOUBLE_EQ(earned[0].device_seconds, 3);
  EXPECT_NEAR(earned[0].log_gain, std::log(2 * 0.99), 1e-9);
  EXPECT_EQ(earned[1].model, "dear");
  EXPECT_EQ(earned[1].correct, 0);
  EXPECT_DOUBLE_EQ(earned[1].dollars, 1.5);
  EXPECT_EQ(earned[1].log_gain, 0);
}

TEST_F(ArchiveModelsTest, StopsWhenACallCostsMoreThanItPromises) {
  const std::string why = "the expected gain of the next call is worth less than its price";
  begin({.proposals = 100, .seeds = 5, .value_of_doubling = 1});
  for (int i = 0; i < 4; ++i) {
    answer(ask(), fast(2), 0.5);
  }
  EXPECT_EQ(search_->why_done(), "") << "the seeds come first";
  answer(ask(), fast(2), 0.5);
  EXPECT_EQ(search_->why_done(), why);
  EXPECT_FALSE(search_->decide(kACall));
}

TEST_F(ArchiveModelsTest, ASearchWithoutAValueIgnoresPrices) {
  begin({.proposals = 100, .seeds = 1});
  for (int i = 0; i < 8; ++i) {
    answer(ask(), fast(2), 500);
  }
  EXPECT_EQ(search_->why_done(), "");
}

TEST_F(ArchiveModelsTest, ACheapModelKeepsASearchWorthwhile) {
  begin({.proposals = 100, .models = {"cheap", "dear"}, .seeds = 4, .value_of_doubling = 1});
  for (int i = 0; i < 10; ++i) {
    const Ask next = ask();
    answer(next, fast(2), next.model == "dear" ? 5 : 0.001);
  }
  EXPECT_EQ(search_->why_done(), "");
}

} // namespace
} // namespace winnow::search
