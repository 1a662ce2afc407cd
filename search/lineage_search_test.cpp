#include "base/error.h"
#include "search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;

constexpr int kVersion = 8;
constexpr CandidateId kBaseline = 1;
const Capacity kOneCall{1};

Outcome outcome(Verdict verdict, double speedup = 0) {
  Outcome made;
  made.verdict = verdict;
  made.evaluator_version = kVersion;
  made.speedup = speedup;
  made.promoted = true;
  made.kernel = "kernel of " + std::to_string(speedup);
  return made;
}

/// A search of the task "axpy". A candidate's id is its number among all attempts, plus one.
class LineageSearchTest : public testing::Test {
protected:
  void begin(const std::string& strategy, std::size_t proposals, std::size_t lineages = 1) {
    search_ = make_search(strategy, {"axpy", proposals, lineages, kVersion});
    search_->apply(Added{kBaseline, "", 0});
    EXPECT_EQ(decided<Evaluate>(), (Evaluate{kBaseline, std::nullopt}));
    search_->apply(Evaluated{kBaseline, outcome(Verdict::Correct, 1)});
  }

  /// Decides, and says that the decision is under way.
  template <typename What> What decided() {
    const auto action = search_->decide(kOneCall);
    const What* what = action ? std::get_if<What>(&*action) : nullptr;
    EXPECT_NE(what, nullptr);
    if (what == nullptr) {
      return {};
    }
    search_->apply(Decided{*action, kOneCall});
    return *what;
  }

  /// The reply to this call was judged with this outcome.
  Evaluate answer(const Ask& ask, const Outcome& result) {
    search_->apply(Added{++last_, ask.key, 0});
    const auto evaluate = decided<Evaluate>();
    search_->apply(Evaluated{last_, result});
    return evaluate;
  }

  /// Makes this attempt and gives the call after it.
  Ask after(const Outcome& result) {
    answer(decided<Ask>(), result);
    return std::get<Ask>(search_->decide(kOneCall).value());
  }

  std::unique_ptr<Search> search_;
  CandidateId last_ = kBaseline;
};

/// Two kernels of the user's beside the baseline; lineages begin with the good ones in turn.
class GivenKernels : public LineageSearchTest {
protected:
  void begin_with(const Outcome& first, const Outcome& second, const std::string& strategy) {
    begin(strategy, 4, 2);
    for (const Outcome& result : {first, second}) {
      search_->apply(Added{++last_, "", 0});
      EXPECT_EQ(decided<Evaluate>(), (Evaluate{last_, std::nullopt}));
      search_->apply(Evaluated{last_, result});
    }
  }
  static constexpr CandidateId kFirst = 2, kSecond = 3;
};

TEST_F(GivenKernels, AreTheBeginningsOfTheLineages) {
  begin_with(outcome(Verdict::Correct, 3), outcome(Verdict::Correct, 2), "one-plus-one");
  const Ask first = decided<Ask>();
  EXPECT_THAT(first.parents, testing::ElementsAre(kFirst));
  ASSERT_TRUE(first.best) << "the prompt shows the kernel";
  EXPECT_EQ(first.best->candidate, kFirst);
  EXPECT_EQ(answer(first, outcome(Verdict::Correct, 2.5)).incumbent, kFirst);
  const Ask other = decided<Ask>();
  EXPECT_THAT(other.parents, testing::ElementsAre(kSecond));
  EXPECT_EQ(answer(other, outcome(Verdict::Correct, 4)).incumbent, kSecond);
  const Ask after_slower = decided<Ask>();
  EXPECT_THAT(after_slower.parents, testing::ElementsAre(kFirst)) << "nothing has beaten it";
  answer(after_slower, outcome(Verdict::Correct, 2.5));
  EXPECT_THAT(decided<Ask>().parents, testing::ElementsAre(5)) << "the attempt that has beaten it";
}

TEST_F(GivenKernels, CountOnlyIfTheyAreGood) {
  begin_with(outcome(Verdict::Wrong), outcome(Verdict::Correct, 2), "best-of-n");
  for (int call = 0; call < 3; ++call) {
    const Ask ask = decided<Ask>();
    EXPECT_THAT(ask.parents, testing::ElementsAre(kSecond));
    answer(ask, outcome(Verdict::Correct, 1));
  }
  begin_with(outcome(Verdict::Wrong), outcome(Verdict::Timeout), "fsr");
  EXPECT_THAT(decided<Ask>().parents, testing::ElementsAre(kBaseline));
}

/// A search whose next reply has parameters to tune: three choices, of which BLOCK 0 is the
/// default.
class FamilyTest : public LineageSearchTest {
protected:
  FamilyTest() {
    begin("one-plus-one", 3);
    search_->apply(Added{++last_, decided<Ask>().key, 0, choices_});
    EXPECT_EQ(decided<Evaluate>(), (Evaluate{last_}));
  }

  Outcome of_choice(int block, double speedup) const {
    Outcome made = outcome(Verdict::Correct, speedup);
    made.kernel = "BLOCK " + std::to_string(block);
    return made;
  }

  /// Ends all heats. `speed`: of the last choice; `other`: of the one before.
  void tune(double speed, double other = 1) {
    for (int rung = 0; rung < 2; ++rung) {
      const auto heat = decided<Evaluate>();
      ASSERT_TRUE(heat.is_heat());
      EXPECT_FALSE(heat.incumbent);
      Tried tried{last_, {}, 0.5};
      for (const tasks::ParameterChoice& choice : heat.choices) {
        tried.trials.push_back(
            {choice, Verdict::NotJudged, "", {choice == choices_[2] ? speed : other}});
      }
      search_->apply(tried);
    }
  }

  const std::vector<tasks::ParameterChoice> choices_{
      {{"BLOCK", 0}}, {{"BLOCK", 1}}, {{"BLOCK", 2}}};
};

TEST_F(FamilyTest, IsTunedBeforeTheNextCall) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  EXPECT_FALSE(search_->find(last_)->outcome);
  const auto heat = decided<Evaluate>();
  EXPECT_THAT(heat.choices, testing::ElementsAre(choices_[1], choices_[2]));
  EXPECT_GT(heat.turns, 0);
  EXPECT_FALSE(search_->decide(kOneCall)) << "waits for the heat";
}

TEST_F(FamilyTest, TheBestChoiceIsEvaluatedInFull) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  tune(1.4);
  EXPECT_EQ(decided<Evaluate>(), (Evaluate{last_, std::nullopt, {choices_[2]}, 0}));
  search_->apply(Evaluated{last_, of_choice(2, 2)});
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 2");
  EXPECT_DOUBLE_EQ(search_->find(last_)->outcome->device_seconds, 1.0);
  EXPECT_EQ(decided<Ask>().best, (Card{last_, 1}));
}

TEST_F(FamilyTest, TheDefaultCountsUnlessTheChoiceIsCorrectAndFaster) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  tune(1.4);
  decided<Evaluate>();
  search_->apply(Evaluated{last_, outcome(Verdict::Wrong)});
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 0");
}

TEST_F(FamilyTest, TheNextChoiceFollowsAWrongOne) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  tune(1.4, 1.2);
  EXPECT_THAT(decided<Evaluate>().choices, testing::ElementsAre(choices_[2]));
  search_->apply(Evaluated{last_, outcome(Verdict::WrongUnseen)});
  EXPECT_THAT(decided<Evaluate>().choices, testing::ElementsAre(choices_[1]));
  search_->apply(Evaluated{last_, of_choice(1, 1.8)});
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 1");
}

TEST_F(FamilyTest, WithoutAFasterChoiceTheDefaultCounts) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  tune(0.9);
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 0");
  decided<Ask>();
}

TEST_F(FamilyTest, IsNotTunedIfItsDefaultIsNotCorrect) {
  search_->apply(Evaluated{last_, outcome(Verdict::Wrong)});
  EXPECT_EQ(search_->find(last_)->outcome->verdict, Verdict::Wrong);
  decided<Ask>();
}

TEST_F(FamilyTest, AFailedHeatBeginsAgainOnce) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  const auto heat = decided<Evaluate>();
  search_->apply(Faulted{last_, heat.choices, heat.turns});
  EXPECT_EQ(decided<Evaluate>(), heat);
  search_->apply(Faulted{last_, heat.choices, heat.turns});
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 0");
}

TEST_F(FamilyTest, AFailedEvaluationOfTheBestChoiceLeavesTheDefault) {
  search_->apply(Evaluated{last_, of_choice(0, 1.5)});
  tune(1.4);
  for (int i = 0; i < 2; ++i) {
    const auto evaluate = decided<Evaluate>();
    EXPECT_FALSE(evaluate.is_heat());
    search_->apply(Faulted{last_, evaluate.choices});
  }
  EXPECT_EQ(search_->find(last_)->outcome->kernel, "BLOCK 0");
}

TEST_F(LineageSearchTest, JudgesTheBaselineBeforeAnyCall) {
  search_ = make_search("one-plus-one", {"axpy", 3, 1, kVersion});
  EXPECT_FALSE(search_->decide(kOneCall));
  search_->apply(Added{kBaseline, "", 0});
  decided<Evaluate>();
  EXPECT_FALSE(search_->decide(kOneCall)) << "waits for the result";
  search_->apply(Evaluated{kBaseline, outcome(Verdict::Wrong)});
  EXPECT_FALSE(search_->decide(kOneCall)) << "a task with a wrong baseline is left out";
}

TEST_F(LineageSearchTest, StartsFromTheBaseline) {
  begin("one-plus-one", 3);
  EXPECT_FALSE(search_->decide({}));
  const Ask ask = decided<Ask>();
  EXPECT_EQ(ask.key, "axpy/0/0");
  EXPECT_THAT(ask.parents, testing::ElementsAre(kBaseline));
  EXPECT_FALSE(ask.best || ask.previous);
  EXPECT_TRUE(ask.history.empty());
  EXPECT_FALSE(search_->decide(kOneCall)) << "the next call waits for the result of this one";
  EXPECT_EQ(search_->asks(), 1U);
}

TEST_F(LineageSearchTest, BuildsOnTheFastestCorrectAttempt) {
  begin("one-plus-one", 4);
  after(outcome(Verdict::Correct, 2.0));
  const Ask ask = after(outcome(Verdict::Correct, 1.9));
  EXPECT_EQ(ask.key, "axpy/0/2");
  EXPECT_EQ(ask.best, (Card{2, 1}));
  EXPECT_EQ(ask.previous, (Card{3, 2})) << "5 % slower is worth showing";
  EXPECT_THAT(ask.parents, testing::ElementsAre(2));
  EXPECT_EQ(ask.history, (std::vector<Card>{{2, 1}, {3, 2}}));
}

TEST_F(LineageSearchTest, HidesABadlyRegressedAttempt) {
  begin("one-plus-one", 4);
  after(outcome(Verdict::Correct, 2.0));
  const Ask ask = after(outcome(Verdict::Correct, 1.0));
  EXPECT_THAT(ask.parents, testing::ElementsAre(2));
  EXPECT_FALSE(ask.previous);
}

TEST_F(LineageSearchTest, RepairsACompileErrorTwice) {
  begin("one-plus-one", 9);
  after(outcome(Verdict::Correct, 2.0));
  for (int failures = 1; failures <= 3; ++failures) {
    const Ask ask = after(outcome(Verdict::CompileError));
    if (failures <= 2) {
      EXPECT_THAT(ask.parents, testing::ElementsAre(last_));
      EXPECT_EQ(ask.previous, (Card{last_, failures + 1}));
    } else {
      EXPECT_THAT(ask.parents, testing::ElementsAre(2)) << "given up: back to the best";
      EXPECT_FALSE(ask.previous);
    }
    EXPECT_EQ(ask.best, (Card{2, 1}));
  }
}

TEST_F(LineageSearchTest, RepairsAWrongResultOnce) {
  begin("one-plus-one", 9);
  EXPECT_THAT(after(outcome(Verdict::Wrong)).parents, testing::ElementsAre(2));
  EXPECT_THAT(after(outcome(Verdict::Wrong)).parents, testing::ElementsAre(kBaseline));
}

TEST_F(LineageSearchTest, AFailureOfALaterStageIsProgress) {
  begin("one-plus-one", 9);
  after(outcome(Verdict::BadReply));
  EXPECT_THAT(after(outcome(Verdict::Wrong)).parents, testing::ElementsAre(3));
  EXPECT_THAT(after(outcome(Verdict::CompileError)).parents, testing::ElementsAre(4));
  EXPECT_THAT(after(outcome(Verdict::Wrong)).parents, testing::ElementsAre(kBaseline))
      << "four in a row are enough";
}

TEST_F(LineageSearchTest, SharesTheCallsAmongLineages) {
  begin("one-plus-one", 5, 2);
  const Ask first = decided<Ask>();
  const Ask second = decided<Ask>();
  EXPECT_EQ(first.key, "axpy/0/0");
  EXPECT_EQ(second.key, "axpy/1/0");
  EXPECT_FALSE(search_->decide(kOneCall));
  answer(second, outcome(Verdict::Correct, 9));
  const Ask third = decided<Ask>();
  EXPECT_EQ(third.key, "axpy/1/1");
  answer(first, outcome(Verdict::Correct, 1));
  const Ask fourth = decided<Ask>();
  EXPECT_EQ(fourth.key, "axpy/0/1");
  EXPECT_EQ(fourth.best, (Card{3, 1})) << "a lineage does not depend on the others";
  answer(third, outcome(Verdict::Wrong));
  answer(fourth, outcome(Verdict::Wrong));
  const Ask last = decided<Ask>(); // 3 + 2 calls
  EXPECT_EQ(last.key, "axpy/0/2");
  answer(last, outcome(Verdict::Wrong));
  EXPECT_FALSE(search_->decide(kOneCall));
}

TEST_F(LineageSearchTest, BestOfNAsksForEverythingAtOnce) {
  begin("best-of-n", 3);
  const Ask first = decided<Ask>();
  decided<Ask>();
  answer(first, outcome(Verdict::Correct, 4));
  const Ask last = decided<Ask>();
  EXPECT_EQ(last.key, "axpy/2/0");
  EXPECT_THAT(last.parents, testing::ElementsAre(kBaseline));
  EXPECT_FALSE(last.best || last.previous);
  EXPECT_FALSE(search_->decide({100}));
}

TEST_F(LineageSearchTest, ACandidateRacesAgainstTheLeaderOfItsLineage) {
  begin("one-plus-one", 9);
  const auto with_interval = [](double speedup, double uncertainty) {
    Outcome made = outcome(Verdict::Correct, speedup);
    made.speedup_bounds = {speedup - uncertainty, speedup + uncertainty};
    return made;
  };
  EXPECT_FALSE(answer(decided<Ask>(), with_interval(1.1, 0.2)).incumbent);
  EXPECT_FALSE(answer(decided<Ask>(), with_interval(2, 0.1)).incumbent)
      << "the first is perhaps no faster than the baseline";
  EXPECT_EQ(answer(decided<Ask>(), with_interval(2.1, 0.1)).incumbent, 3);
  EXPECT_EQ(answer(decided<Ask>(), with_interval(2.4, 0.1)).incumbent, 3)
      << "the one before is no faster outside the noise";
  Outcome slow_elsewhere = with_interval(5, 0.1);
  slow_elsewhere.promoted = false;
  EXPECT_EQ(answer(decided<Ask>(), slow_elsewhere).incumbent, 5);
  Outcome of_another_evaluator = with_interval(7, 0.1);
  of_another_evaluator.evaluator_version = kVersion - 1;
  EXPECT_EQ(answer(decided<Ask>(), of_another_evaluator).incumbent, 5);
  EXPECT_EQ(answer(decided<Ask>(), with_interval(3, 0.1)).incumbent, 5);
}

TEST_F(LineageSearchTest, PromotesWhatIsFastEnoughOnHiddenShapes) {
  begin("one-plus-one", 9);
  Outcome fast = outcome(Verdict::Correct, 2);
  fast.hidden_speedup = 2;
  answer(decided<Ask>(), fast);
  search_->apply(Added{++last_, decided<Ask>().key, 0});
  Outcome faster = outcome(Verdict::Correct, 3);
  faster.hidden_speedup = 1.7;
  EXPECT_FALSE(search_->promotes(last_, faster)) << "15 % slower on hidden shapes";
  faster.hidden_speedup = 1.85;
  EXPECT_TRUE(search_->promotes(last_, faster));
  Outcome slower = outcome(Verdict::Correct, 1.5);
  slower.hidden_speedup = 0.2;
  EXPECT_TRUE(search_->promotes(last_, slower)) << "leads nothing";
}

TEST_F(LineageSearchTest, AFaultOfTheMachinePutsTheCandidateBack) {
  begin("one-plus-one", 9);
  search_->apply(Added{++last_, decided<Ask>().key, 0});
  decided<Evaluate>();
  search_->apply(Faulted{last_});
  EXPECT_EQ(decided<Evaluate>().candidate, last_);
  EXPECT_FALSE(search_->decide(kOneCall)) << "the lineage waits";
  search_->apply(Evaluated{last_, outcome(Verdict::Correct, 2)});
  EXPECT_EQ(decided<Ask>().best, (Card{last_, 1}));
}

TEST_F(LineageSearchTest, ACandidateThatTheMachineCannotJudgeHoldsNobodyUp) {
  begin("one-plus-one", 9);
  answer(decided<Ask>(), outcome(Verdict::CompileError));
  const CandidateId unlucky = ++last_;
  search_->apply(Added{unlucky, decided<Ask>().key, 0});
  for (int fault = 0; fault < 2; ++fault) {
    decided<Evaluate>();
    search_->apply(Faulted{unlucky});
  }
  const Ask next = decided<Ask>();
  EXPECT_THAT(next.parents, testing::ElementsAre(kBaseline)) << "builds on no fault of the machine";
  EXPECT_FALSE(next.previous || next.best);
  search_->apply(Resumed{});
  EXPECT_EQ(decided<Evaluate>().candidate, unlucky) << "a new session judges it again";
  search_->apply(Added{++last_, next.key, 0});
  decided<Evaluate>();
  search_->apply(Evaluated{last_, outcome(Verdict::Wrong)});
  EXPECT_FALSE(search_->decide(kOneCall)) << "the candidate before it has no result yet";
  search_->apply(Evaluated{unlucky, outcome(Verdict::Correct, 3)});
  EXPECT_EQ(decided<Ask>().best, (Card{unlucky, 2}));
}

TEST_F(LineageSearchTest, ALineageWithoutAReplyStopsUntilTheNextSession) {
  begin("one-plus-one", 6, 2);
  const Ask lost = decided<Ask>();
  search_->apply(Unanswered{lost.key});
  answer(decided<Ask>(), outcome(Verdict::Correct, 2));
  EXPECT_EQ(decided<Ask>().key, "axpy/1/1");
  EXPECT_FALSE(search_->decide(kOneCall));
  search_->apply(Resumed{});
  EXPECT_FALSE(search_->decide(kOneCall)) << "the call is still under way";
  answer(lost, outcome(Verdict::Correct, 2));
  EXPECT_EQ(decided<Ask>().key, "axpy/0/1");
}

TEST_F(LineageSearchTest, AnEventOfACallThatNobodyDecidedIsAnError) {
  begin("one-plus-one", 6);
  EXPECT_THROW(search_->apply(Added{7, "axpy/9/9"}), Error);
  EXPECT_THROW(search_->apply(Evaluated{7, outcome(Verdict::Wrong)}), Error);
  EXPECT_THROW(search_->apply(Faulted{7}), Error);
}

TEST(MakeSearch, AnUnknownNameGetsTheNearest) {
  try {
    make_search("one-plus-on", {});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'one-plus-one'"));
  }
}

TEST_F(LineageSearchTest, LineagesTakeTheModelsInTurn) {
  Settings settings{"axpy", 6, 3, kVersion};
  settings.models = {"cheap", "dear"};
  search_ = make_search("one-plus-one", settings);
  search_->apply(Added{kBaseline, "", 0});
  decided<Evaluate>();
  search_->apply(Evaluated{kBaseline, outcome(Verdict::Correct, 1)});
  const std::vector<Ask> asks{decided<Ask>(), decided<Ask>(), decided<Ask>()};
  EXPECT_EQ(asks[0].model, "cheap");
  EXPECT_EQ(asks[1].model, "dear");
  EXPECT_EQ(asks[2].model, "cheap");
  answer(asks[1], outcome(Verdict::Correct, 2));
  EXPECT_EQ(decided<Ask>().model, "dear") << "the next call of lineage 1";
}

} // namespace
} // namespace winnow::search
