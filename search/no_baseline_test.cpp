#include "search/search.h"

#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kJudge = 9;
const Capacity kOneAsk{1};

Outcome judged(Verdict verdict, double speedup = 0) {
  Outcome made;
  made.verdict = verdict;
  made.evaluator_version = kJudge;
  made.speedup = speedup;
  made.promoted = true;
  made.cell = "cell of " + std::to_string(speedup);
  made.kernel = "kernel of " + std::to_string(speedup);
  return made;
}

/// Searches of the task "axpy", which has no baseline. Keeps their logs.
class NoBaselineTest : public testing::TestWithParam<std::string> {
protected:
  void begin(const std::string& strategy, Settings settings) {
    settings.task = "axpy";
    settings.evaluator_version = kJudge;
    settings.has_baseline = false;
    strategy_ = strategy;
    settings_ = settings;
    search_ = make_search(strategy, settings);
  }

  void apply(const Event& event) {
    log_.push_back(entry_of(event));
    search_->apply(event);
  }

  template <typename What> What decided() {
    const auto action = search_->decide(kOneAsk);
    const What* what = action ? std::get_if<What>(&*action) : nullptr;
    EXPECT_NE(what, nullptr);
    if (what == nullptr) {
      return {};
    }
    apply(Decided{*action, kOneAsk});
    return *what;
  }

  CandidateId answer(const Ask& ask, const Outcome& outcome) {
    apply(Added{++last_, ask.key});
    EXPECT_EQ(decided<Evaluate>().candidate, last_);
    apply(Evaluated{last_, outcome});
    return last_;
  }

  /// Every decision in the log is what a new search decides there.
  void replay() const {
    const auto search = make_search(strategy_, settings_);
    for (const LogEntry& entry : log_) {
      const Event event = event_of(entry);
      if (const auto* decision = std::get_if<Decided>(&event)) {
        const auto action = search->decide(decision->capacity);
        EXPECT_TRUE(action && *action == decision->action) << entry.detail;
      }
      search->apply(event);
    }
    EXPECT_EQ(search->decide(kOneAsk), search_->decide(kOneAsk));
  }

  std::string strategy_;
  Settings settings_;
  std::unique_ptr<Search> search_;
  std::vector<LogEntry> log_;
  CandidateId last_ = 0;
};

TEST_P(NoBaselineTest, BeginsAtOnceWithSeeds) {
  begin(GetParam(), {.proposals = 4});
  EXPECT_FALSE(search_->decide({})) << "there is nothing to judge";
  const Ask first = decided<Ask>();
  EXPECT_EQ(first.key, "axpy/0/0");
  EXPECT_EQ(first.op, "seed");
  EXPECT_THAT(first.parents, IsEmpty());
  EXPECT_FALSE(first.best || first.previous);
}

TEST_P(NoBaselineTest, GoesOnAfterFailuresAndResumes) {
  begin(GetParam(), {.proposals = 12, .seeds = 2});
  const std::vector<Outcome> outcomes{
      judged(Verdict::CompileError), judged(Verdict::Wrong),        judged(Verdict::Wrong),
      judged(Verdict::CompileError), judged(Verdict::Correct, 0.8), judged(Verdict::Correct, 1.5),
      judged(Verdict::Correct, 1.2), judged(Verdict::BadReply),     judged(Verdict::Correct, 1.9),
  };
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    answer(decided<Ask>(), outcomes[i]);
    replay();
    if (i % 3 == 2) {
      apply(Resumed{});
    }
  }
  replay();
  EXPECT_EQ(search_->asks(), outcomes.size());
}

TEST_P(NoBaselineTest, AFaultOfTheMachineHoldsNobodyUp) {
  begin(GetParam(), {.proposals = 4, .seeds = 2});
  const Ask first = decided<Ask>();
  apply(Added{++last_, first.key});
  for (int fault = 0; fault < 2; ++fault) {
    decided<Evaluate>();
    apply(Faulted{last_});
  }
  EXPECT_THAT(decided<Ask>().parents, IsEmpty());
  apply(Resumed{});
  EXPECT_EQ(decided<Evaluate>().candidate, last_) << "it is no baseline: the calls did not wait";
  replay();
}

INSTANTIATE_TEST_SUITE_P(Strategies, NoBaselineTest,
                         testing::Values("one-plus-one", "best-of-n", "archive"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

using NoBaselineLineageTest = NoBaselineTest;

TEST_F(NoBaselineLineageTest, BuildsOnTheFirstCorrectKernel) {
  begin("one-plus-one", {.proposals = 6});
  const CandidateId wrong = answer(decided<Ask>(), judged(Verdict::Wrong));
  const Ask repair = decided<Ask>();
  EXPECT_EQ(repair.op, "improve");
  EXPECT_THAT(repair.parents, ElementsAre(wrong));
  answer(repair, judged(Verdict::Wrong));
  const Ask again = decided<Ask>();
  EXPECT_EQ(again.op, "improve") << "shows the failures before it, which a seed does not";
  EXPECT_THAT(again.parents, IsEmpty());
  EXPECT_EQ(again.history.size(), 2U);
  const CandidateId slow = answer(again, judged(Verdict::Correct, 0.5));
  const Ask next = decided<Ask>();
  EXPECT_THAT(next.parents, ElementsAre(slow)) << "slower than PyTorch eager, but all there is";
  EXPECT_EQ(next.best, (Card{slow, 3}));
  apply(Added{++last_, next.key});
  EXPECT_FALSE(decided<Evaluate>().incumbent) << "nothing leads that does not beat eager";
  replay();
}

TEST_F(NoBaselineLineageTest, ALeaderBeatsEager) {
  begin("one-plus-one", {.proposals = 6});
  const CandidateId fast = answer(decided<Ask>(), judged(Verdict::Correct, 1.5));
  Outcome slow_elsewhere = judged(Verdict::Correct, 1.8);
  slow_elsewhere.hidden_speedup = 0.5;
  apply(Added{++last_, decided<Ask>().key});
  EXPECT_EQ(decided<Evaluate>().incumbent, fast);
  EXPECT_TRUE(search_->promotes(last_, slow_elsewhere)) << "the leader was not timed there";
}

TEST_F(NoBaselineLineageTest, BestOfNAsksForSeedsOnly) {
  begin("best-of-n", {.proposals = 3});
  const Ask first = decided<Ask>();
  decided<Ask>();
  answer(first, judged(Verdict::Correct, 4));
  const Ask last = decided<Ask>();
  EXPECT_EQ(last.op, "seed");
  EXPECT_THAT(last.parents, IsEmpty());
  EXPECT_FALSE(search_->decide({9}));
  replay();
}

using NoBaselineArchiveTest = NoBaselineTest;

TEST_F(NoBaselineArchiveTest, SeedsUntilAKernelIsCorrect) {
  begin("archive", {.proposals = 20, .seeds = 2});
  const Ask first = decided<Ask>(), second = decided<Ask>();
  EXPECT_FALSE(search_->decide(kOneAsk)) << "waits for a first kernel";
  answer(first, judged(Verdict::Implausible));
  EXPECT_FALSE(search_->decide(kOneAsk)) << "the other seed is under way";
  answer(second, judged(Verdict::Implausible));
  const Ask third = decided<Ask>();
  EXPECT_EQ(third.op, "seed");
  EXPECT_THAT(third.parents, IsEmpty());
  const CandidateId kernel = answer(third, judged(Verdict::Correct, 0.7));
  const Ask next = decided<Ask>();
  EXPECT_NE(next.op, "seed");
  EXPECT_THAT(next.parents, ElementsAre(kernel));
  EXPECT_FALSE(next.best) << "it does not beat PyTorch eager";
  replay();
}

TEST_F(NoBaselineArchiveTest, RepairsASeed) {
  begin("archive", {.proposals = 20, .seeds = 1});
  const CandidateId broken = answer(decided<Ask>(), judged(Verdict::CompileError));
  const Ask repair = decided<Ask>();
  EXPECT_EQ(repair.op, "repair");
  EXPECT_THAT(repair.parents, ElementsAre(broken));
  const CandidateId mended = answer(repair, judged(Verdict::Correct, 1.2));
  EXPECT_THAT(decided<Ask>().parents, ElementsAre(mended));
  replay();
}

TEST_F(NoBaselineArchiveTest, StartsFromTheKernelThatTheUserGives) {
  begin("archive", {.proposals = 9, .seeds = 3});
  apply(Added{++last_, ""});
  EXPECT_FALSE(search_->decide({9}) && std::holds_alternative<Ask>(*search_->decide({9})));
  decided<Evaluate>();
  EXPECT_FALSE(search_->decide(kOneAsk)) << "waits for the result";
  apply(Evaluated{last_, judged(Verdict::Correct, 3)});
  const Ask first = decided<Ask>();
  EXPECT_NE(first.op, "seed");
  EXPECT_THAT(first.parents, ElementsAre(last_));
  replay();
}

TEST_F(NoBaselineArchiveTest, SeedsIfTheGivenKernelIsWrong) {
  begin("archive", {.proposals = 9, .seeds = 1});
  apply(Added{++last_, ""});
  decided<Evaluate>();
  apply(Evaluated{last_, judged(Verdict::Wrong)});
  const Ask first = decided<Ask>();
  EXPECT_EQ(first.op, "seed");
  EXPECT_THAT(first.parents, IsEmpty());
  EXPECT_FALSE(search_->decide(kOneAsk)) << "waits for a first kernel";
  const CandidateId kernel = answer(first, judged(Verdict::Correct, 2));
  EXPECT_THAT(decided<Ask>().parents, ElementsAre(kernel));
  replay();
}

TEST_F(NoBaselineArchiveTest, StopsWhenItsCallsGainNothing) {
  begin("archive", {.proposals = 50, .seeds = 2, .patience = 4});
  while (const auto action = search_->decide(kOneAsk)) {
    apply(Decided{*action, kOneAsk});
    answer(std::get<Ask>(*action), judged(Verdict::Wrong));
  }
  EXPECT_EQ(search_->why_done(), "the last 4 calls gained nothing");
  replay();
}

} // namespace
} // namespace winnow::search
