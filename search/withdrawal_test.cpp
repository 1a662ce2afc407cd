// Evaluations that do not count any more, because their kernel was suspended as an incumbent.
#include "search/testing/archive_search_fixture.h"

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
using testing::ElementsAre;
using testing::Pair;

class Withdrawal : public ArchiveSearchTest {
protected:
  Evaluate evaluated_next() {
    const auto action = search_->decide({});
    EXPECT_TRUE(action && std::holds_alternative<Evaluate>(*action));
    return action ? std::get<Evaluate>(*action) : Evaluate{};
  }
};

TEST_F(Withdrawal, OfTheLeaderGivesTheLeadBack) {
  begin({.proposals = 9, .seeds = 2});
  const Ask first = ask();
  const Ask second = ask();
  const CandidateId other = answer(first, fast(2, "tensor cores"));
  const CandidateId doubted = answer(second, fast(8, "shared memory"));
  EXPECT_EQ(search_->rival_of(kFirst), doubted);
  search_->apply(Withdrawn{doubted, {}});
  EXPECT_EQ(search_->rival_of(kFirst), other);
  EXPECT_EQ(search_->find(doubted)->outcome, std::nullopt);
  EXPECT_THAT(search_->cells(), ElementsAre(Pair("plain", kFirst), Pair("tensor cores", other)));
  EXPECT_EQ(search_->earnings().front().correct, 1);
  EXPECT_NEAR(search_->earnings().front().log_gain, std::log(2 * 0.99), 1e-9);
}

TEST_F(Withdrawal, ACellGoesBackToTheKernelBefore) {
  begin({.proposals = 9, .seeds = 2});
  const Ask first = ask();
  const Ask second = ask();
  const CandidateId other = answer(first, fast(2, "tensor cores"));
  const CandidateId doubted = answer(second, fast(8, "tensor cores"));
  search_->apply(Withdrawn{doubted, {}});
  EXPECT_EQ(search_->cells().at("tensor cores"), other);
}

TEST_F(Withdrawal, TheCandidateIsJudgedAgainWithItsParameters) {
  begin({.proposals = 9, .seeds = 2});
  const CandidateId doubted = answer(ask(), fast(8));
  const tasks::ParameterChoice choice{{"BLOCK", 128}};
  search_->apply(Withdrawn{doubted, choice});
  const Evaluate again = evaluated_next();
  EXPECT_EQ(again.candidate, doubted);
  EXPECT_THAT(again.choices, ElementsAre(choice));
  search_->apply(Decided{again, {}});
  search_->apply(Evaluated{doubted, failed(Verdict::Wrong)});
  EXPECT_EQ(search_->find(doubted)->outcome->verdict, Verdict::Wrong);
  EXPECT_EQ(search_->find(doubted)->withdrawals, 1);
  EXPECT_EQ(search_->rival_of(kFirst), std::nullopt);
  EXPECT_EQ(search_->earnings().front().correct, 0);
}

TEST_F(Withdrawal, KeepsItsParametersWhenTheMachineFailsMeanwhile) {
  begin({.proposals = 9, .seeds = 2});
  const CandidateId doubted = answer(ask(), fast(8));
  const tasks::ParameterChoice choice{{"BLOCK", 128}};
  search_->apply(Withdrawn{doubted, choice});
  for (int fault = 0; fault < 2; ++fault) {
    search_->apply(Decided{evaluated_next(), {}});
    search_->apply(Faulted{doubted, {choice}, 0});
  }
  search_->apply(Resumed{});
  EXPECT_THAT(evaluated_next().choices, ElementsAre(choice));
}

TEST_F(Withdrawal, OfTheBaselineStopsTheCalls) {
  begin({.proposals = 9, .seeds = 2});
  search_->apply(Withdrawn{kFirst, {}});
  EXPECT_EQ(evaluated_next().candidate, kFirst);
  search_->apply(Decided{evaluated_next(), {}});
  EXPECT_FALSE(search_->decide(kACall)) << "nobody knows whether the baseline is correct";
  search_->apply(Evaluated{kFirst, fast(1)});
  EXPECT_TRUE(search_->decide(kACall));
}

TEST_F(Withdrawal, OfACandidateWithoutAnOutcomeDoesNothing) {
  begin({.proposals = 9, .seeds = 2});
  search_->apply(Added{++last_, ask().key, 0});
  search_->apply(Withdrawn{last_, {}});
  EXPECT_EQ(search_->find(last_)->withdrawals, 0);
}

TEST(WithdrawalFromALineage, TheNextCallWaitsAndBuildsOnWhatStillCounts) {
  auto search = make_search(
      "one-plus-one", {.task = "axpy", .proposals = 4, .evaluator_version = test::kThisEvaluator});
  const auto decide = [&](const Capacity& capacity) {
    const Action action = search->decide(capacity).value();
    search->apply(Decided{action, capacity});
    return action;
  };
  const auto judge = [&](CandidateId candidate, const Outcome& outcome) {
    EXPECT_EQ(std::get<Evaluate>(decide(Capacity{})).candidate, candidate);
    search->apply(Evaluated{candidate, outcome});
  };
  search->apply(Added{kFirst, "", 0});
  judge(kFirst, fast(1));
  for (const double speedup : {2.0, 8.0}) {
    const Ask call = std::get<Ask>(decide(kACall));
    const CandidateId candidate = speedup == 2 ? 2 : 3;
    search->apply(Added{candidate, call.key, 0});
    judge(candidate, fast(speedup));
  }
  search->apply(Withdrawn{3, {}});
  decide(kACall); // judges candidate 3 again
  EXPECT_FALSE(search->decide(kACall));
  search->apply(Evaluated{3, fast(0.5)});
  EXPECT_THAT(std::get<Ask>(search->decide(kACall).value()).parents, ElementsAre(2));
}

TEST(WithdrawalInTheLog, ReadsWhatItWrites) {
  const Event event = Withdrawn{7, {{"BLOCK", 128}}};
  const auto read = std::get<Withdrawn>(event_of(entry_of(event)));
  EXPECT_EQ(read.candidate, 7);
  EXPECT_EQ(read.choice, (tasks::ParameterChoice{{"BLOCK", 128}}));
}

TEST(Event, WhatEndsASearchAndWhatItGrantsComeBackFromTheLog) {
  const Event enough = Enough{"vs_best is 1.2"}, granted = Granted{-3};
  EXPECT_EQ(std::get<Enough>(event_of(entry_of(enough))).why, "vs_best is 1.2");
  EXPECT_EQ(std::get<Granted>(event_of(entry_of(granted))).calls, -3);
}

TEST(Search, MakesNoMoreCallsAfterEnoughAndAsManyAsGranted) {
  for (const std::string& strategy : strategy_names()) {
    const auto search = make_search(strategy, {.task = "t", .proposals = 2, .has_baseline = false});
    const auto asks = [&] {
      std::size_t made = 0;
      while (const auto action = search->decide({.asks = 100})) {
        search->apply(Decided{*action, {.asks = 100}});
        search->apply(Unanswered{std::get<Ask>(*action).key});
        ++made;
      }
      return made;
    };
    EXPECT_GE(asks(), 1U) << strategy;
    search->apply(Granted{3});
    EXPECT_EQ(search->proposals(), 5U) << strategy;
    search->apply(Enough{"it is good"});
    EXPECT_EQ(asks(), 0U) << strategy;
    EXPECT_EQ(search->why_done(), "it is good");
    search->apply(Granted{std::int64_t{1} << 60U});
    EXPECT_LE(search->proposals(), 1'000'000U) << "of a log that was changed by hand";
  }
}

} // namespace
} // namespace winnow::search
