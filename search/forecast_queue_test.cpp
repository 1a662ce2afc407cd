#include "base/error.h"
#include "search/forecast_queue.h"
#include "search/policy.h"
#include "search/testing/archive_search_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using test::kFirst;
using test::kThisEvaluator;
using testing::ElementsAre;
using testing::HasSubstr;

const Capacity kBusy{1, 0}; ///< room for a call, and none at the devices
const Capacity kBusyNoCall{0, 0};
const Capacity kFree{0, 1};

std::string sure_of_bin(std::size_t bin) {
  std::string text = R"({"chances": [)";
  for (std::size_t i = 0; i < kSpeedBins; ++i) {
    text += std::string(i == 0 ? "" : ", ") + (i == bin ? "1.0" : "0.0");
  }
  return text + R"(], "reason": "x"})";
}
constexpr std::size_t kMuchSlower = 0, kAlike = 4, kFaster = 7, kMuchFaster = 8;

/// A search of the task "axpy" by best-of-n with a forecaster, whose baseline is judged.
class ForecastQueueTest : public testing::Test {
protected:
  void begin(std::vector<std::string> roles = {"forecaster"}, std::size_t proposals = 500) {
    settings_.task = "axpy";
    settings_.proposals = proposals;
    settings_.evaluator_version = kThisEvaluator;
    settings_.roles = std::move(roles);
    search_ = make_search("best-of-n", settings_);
    search_->apply(Added{kFirst, "", 0, {}, {}});
    run(kFirst, fast(1));
    for (int i = 0; i < 450; ++i) {
      calls_.push_back(decide<Ask>({1, 1}));
    }
  }

  template <typename Kind> Kind decide(const Capacity& capacity) {
    const auto action = search_->decide(capacity);
    EXPECT_TRUE(action && std::holds_alternative<Kind>(*action));
    if (!action || !std::holds_alternative<Kind>(*action)) {
      return {};
    }
    search_->apply(Decided{*action, capacity});
    return std::get<Kind>(*action);
  }
  /// A device becomes free, and this candidate runs next.
  void run(CandidateId candidate, const Outcome& outcome) {
    EXPECT_EQ(decide<Evaluate>(kFree).candidate, candidate);
    search_->apply(Evaluated{candidate, outcome});
  }
  /// The reply to the next of the kernel calls.
  CandidateId add(Facts facts = {}) {
    search_->apply(Added{++last_, calls_.at(replies_++).key, 0.02, {}, std::move(facts)});
    return last_;
  }
  CandidateId add_drawn(bool is_audited) {
    while (is_measured_anyway(settings_, calls_.at(replies_).key) != is_audited) {
      ++replies_; // this call never gets a reply
    }
    return add();
  }
  /// The next call is the forecaster's, about this candidate.
  Ask ask_about(CandidateId candidate) {
    const Ask ask = decide<Ask>(kBusy);
    EXPECT_EQ(ask.op, "forecast");
    EXPECT_THAT(ask.parents, ElementsAre(candidate));
    return ask;
  }
  void advise(const Ask& ask, const std::string& advice) {
    search_->apply(Advised{ask.key, advice, 0.01, 2});
  }
  /// As the loop of a run does. Returns whether the candidate is left out.
  bool advise_and_heed(const Ask& ask, const std::string& advice) {
    const Advised advised{ask.key, advice, 0.01, 2};
    const bool refuses = search_->refuses(advised);
    search_->apply(advised);
    if (refuses) {
      search_->apply(Evaluated{ask.parents.front(), failed(Verdict::NotJudged)});
    }
    return refuses;
  }
  RoleStanding standing() const { return search_->roles().at(0); }

  Settings settings_;
  std::unique_ptr<Search> search_;
  std::vector<Ask> calls_; ///< for kernels
  std::size_t replies_ = 0;
  CandidateId last_ = kFirst;
};

TEST_F(ForecastQueueTest, ChangesNothingWhileADeviceIsFree) {
  begin();
  const CandidateId first = add();
  const auto next = search_->decide({8, 1});
  ASSERT_TRUE(next && std::holds_alternative<Evaluate>(*next));
  run(first, fast(2));
  const auto call = search_->decide({8, 1});
  EXPECT_NE(std::get<Ask>(*call).op, "forecast");
  EXPECT_EQ(standing().calls, 0);
}

TEST_F(ForecastQueueTest, AnUnlimitedCapacityChangesNothing) {
  begin();
  const CandidateId candidate = add();
  EXPECT_EQ(decide<Evaluate>(Capacity{}).candidate, candidate);
}

TEST_F(ForecastQueueTest, WhileDevicesAreBusyTheMostPromisingCandidateGoesFirst) {
  begin();
  const CandidateId slow = add_drawn(true), alike = add(), fast_one = add();
  EXPECT_FALSE(search_->decide(kBusyNoCall)) << "candidates wait";
  const Ask about_slow = ask_about(slow), about_alike = ask_about(alike),
            about_fast = ask_about(fast_one);
  EXPECT_EQ(about_fast.second->candidate, kFirst) << "the parent";
  EXPECT_EQ(about_alike.key, "axpy/forecast/" + calls_.at(replies_ - 2).key.substr(5));
  advise(about_fast, sure_of_bin(kMuchFaster));
  advise(about_slow, sure_of_bin(kMuchSlower));
  advise(about_alike, sure_of_bin(kAlike));
  run(fast_one, fast(3));
  EXPECT_EQ(decide<Evaluate>(kFree).candidate, alike);
  EXPECT_EQ(decide<Evaluate>(kFree).candidate, slow);
}

TEST_F(ForecastQueueTest, ADeviceDoesNotWaitForTheForecaster) {
  begin();
  const CandidateId candidate = add_drawn(false);
  const Ask late = ask_about(candidate);
  run(candidate, fast(2));
  EXPECT_FALSE(advise_and_heed(late, sure_of_bin(kMuchSlower))) << "it has run already";
  EXPECT_EQ(search_->find(candidate)->outcome->speedup, 2);
}

TEST_F(ForecastQueueTest, TheRaceIsAgainstTheBestKernelOfThatMoment) {
  settings_.seeds = 0;
  settings_.task = "axpy";
  settings_.proposals = 10;
  settings_.evaluator_version = kThisEvaluator;
  settings_.roles = {"forecaster"};
  search_ = make_search("archive", settings_);
  search_->apply(Added{kFirst, "", 0, {}, {}});
  run(kFirst, fast(1));
  const Ask one = decide<Ask>({4, 1});
  search_->apply(Added{2, one.key, 0, {}, {}});
  run(2, fast(2));
  const Ask two = decide<Ask>({4, 1});
  const Ask three = decide<Ask>({4, 1});
  search_->apply(Added{3, two.key, 0, {}, {}});
  search_->apply(Added{4, three.key, 0, {}, {}});
  run(3, fast(4));
  EXPECT_EQ(decide<Evaluate>(kFree).incumbent, 3) << "2 was the best when 4 began to wait";
}

TEST_F(ForecastQueueTest, AnImprobableCandidateIsLeftOutUnlessItIsDrawn) {
  begin();
  const CandidateId out = add_drawn(false);
  EXPECT_TRUE(advise_and_heed(ask_about(out), sure_of_bin(kMuchSlower)));
  EXPECT_FALSE(search_->decide(kFree)) << "no device sees it";
  EXPECT_EQ(search_->find(out)->outcome->verdict, Verdict::NotJudged);
  const CandidateId drawn = add_drawn(true);
  EXPECT_FALSE(advise_and_heed(ask_about(drawn), sure_of_bin(kMuchSlower)));
  run(drawn, fast(0.4));
  ASSERT_NE(search_->forecast_of(drawn), nullptr);
  EXPECT_TRUE(search_->forecast_of(drawn)->is_audit);
  EXPECT_EQ(search_->forecast_of(drawn)->score, 0);
  EXPECT_NEAR(search_->forecast_of(drawn)->model_free, 204.0 / 81 / 8, 1e-12)
      << "nothing was known";
  EXPECT_FALSE(search_->forecast_of(drawn)->beats_best);
  EXPECT_EQ(search_->forecast_of(out), nullptr);
}

TEST_F(ForecastQueueTest, ImprobableMeansAgainstTheBestKernelAndNotTheParent) {
  begin();
  EXPECT_FALSE(advise_and_heed(ask_about(add_drawn(false)), sure_of_bin(kFaster)));
  run(last_, fast(1.5));
  EXPECT_TRUE(search_->forecast_of(last_)->beats_best);
}

TEST_F(ForecastQueueTest, AChildOfALuckyParentMustBeFasterThanTheParent) {
  settings_.task = "axpy";
  settings_.proposals = 12;
  settings_.evaluator_version = kThisEvaluator;
  settings_.roles = {"forecaster"};
  search_ = make_search("forecast", settings_);
  search_->apply(Added{kFirst, "", 0, {}, {}});
  run(kFirst, fast(1));
  std::vector<Ask> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(decide<Ask>({4, 1}));
  }
  Outcome lucky = fast(3);
  lucky.speedup_bounds = {1.9, 6}; // does not beat 2
  const std::vector<Outcome> outcomes{fast(2), lucky, fast(0.5), fast(0.5)};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    search_->apply(Added{static_cast<CandidateId>(i) + 2, calls[i].key, 0, {}, {}});
    run(static_cast<CandidateId>(i) + 2, outcomes[i]);
  }
  Ask of_lucky = decide<Ask>({4, 1});
  for (int i = 0; i < 7 && of_lucky.parents.front() != 3; ++i) {
    of_lucky = decide<Ask>({4, 1});
  }
  ASSERT_EQ(of_lucky.parents.front(), 3);
  search_->apply(Added{6, of_lucky.key, 0, {}, {}});
  advise(ask_about(6), sure_of_bin(2)); // 0.8x to 0.91x of 3, which is more than 2
  run(6, fast(2.6));
  EXPECT_EQ(search_->forecast_of(6)->chance, 0);
}

TEST_F(ForecastQueueTest, OneOfEightIsMeasuredAnyway) {
  settings_.task = "axpy";
  int drawn = 0;
  constexpr int kCandidates = 10'000;
  for (int call = 0; call < kCandidates; ++call) {
    drawn += is_measured_anyway(settings_, "axpy/0/" + std::to_string(call)) ? 1 : 0;
  }
  EXPECT_NEAR(drawn, kForecastAuditShare * kCandidates, 110) << "3.3 standard deviations";
}

TEST_F(ForecastQueueTest, ForecastsNoBetterThanThoseWithoutAModelAreSwitchedOff) {
  begin();
  for (int i = 0; i < kForecastTrial; ++i) {
    EXPECT_EQ(standing().off, "") << i;
    const CandidateId candidate = add_drawn(true);
    advise_and_heed(ask_about(candidate), sure_of_bin(kMuchSlower));
    run(candidate, fast(1.5));
  }
  EXPECT_THAT(standing().off, HasSubstr("8 measured forecasts is 0.8750"));
  add();
  add();
  EXPECT_FALSE(search_->decide(kBusyNoCall));
  const auto next = search_->decide(kBusy);
  EXPECT_TRUE(!next || std::get<Ask>(*next).op != "forecast");
  EXPECT_EQ(standing().calls, kForecastTrial);
}

TEST_F(ForecastQueueTest, ForecastsThatAreRightStay) {
  begin();
  for (int i = 0; i < 3 * kForecastTrial; ++i) {
    const bool is_fast = i % 3 == 0;
    const CandidateId candidate = add_drawn(true);
    advise_and_heed(ask_about(candidate), sure_of_bin(is_fast ? kFaster : kMuchSlower));
    run(candidate, fast(is_fast ? 1.5 : 0.4));
  }
  EXPECT_EQ(standing().off, "");
  EXPECT_EQ(standing().useful, 3 * kForecastTrial);
  EXPECT_NEAR(standing().dollars, 0.01 * 3 * kForecastTrial, 1e-12);
}

TEST_F(ForecastQueueTest, WithoutForecastsLikeKernelsOrderTheQueue) {
  begin();
  for (int i = 0; i < 10; ++i) {
    const bool spills = i % 2 == 0;
    run(add({{"spills", spills ? 1.0 : 0.0}}), fast(spills ? 0.4 : 3));
  }
  const CandidateId with = add({{"spills", 1}});
  const CandidateId without = add({{"spills", 0}});
  EXPECT_EQ(decide<Evaluate>(kFree).candidate, without) << "although it is newer";
  EXPECT_EQ(decide<Evaluate>(kFree).candidate, with);
}

TEST_F(ForecastQueueTest, AForecasterWithoutAUsefulReplyHoldsNothingBack) {
  begin();
  const CandidateId first = add(), second = add();
  search_->apply(Unanswered{ask_about(first).key});
  advise(ask_about(second), "");
  EXPECT_NE(std::get<Ask>(*search_->decide(kBusy)).op, "forecast") << "each is asked about once";
  run(first, fast(2));
  run(second, fast(2));
  EXPECT_EQ(standing().useful, 0);
}

TEST_F(ForecastQueueTest, AFaultOfTheMachinePutsTheCandidateBackWithItsForecast) {
  begin();
  const CandidateId first = add(), second = add();
  const Ask about_first = ask_about(first), about_second = ask_about(second);
  advise(about_first, sure_of_bin(kAlike));
  advise(about_second, sure_of_bin(kMuchFaster));
  EXPECT_EQ(decide<Evaluate>(kFree).candidate, second);
  search_->apply(Faulted{second, {}, 0});
  run(second, fast(2));
  EXPECT_EQ(standing().calls, 2);
}

TEST_F(ForecastQueueTest, TheVerifierComesBeforeTheForecaster) {
  begin({"verifier", "forecaster"});
  const CandidateId candidate = add();
  const Ask verify = decide<Ask>(kBusy);
  EXPECT_EQ(verify.op, "verify");
  advise(verify, R"({"verdict": "accept", "findings": []})");
  ask_about(candidate);
  EXPECT_EQ(search_->roles().at(0).role, "verifier");
  EXPECT_EQ(search_->roles().at(1).role, "forecaster");
  EXPECT_EQ(search_->roles().at(1).calls, 1);
}

TEST_F(ForecastQueueTest, TheCandidatesCallPaysForVerifierAndForecaster) {
  begin({"verifier", "forecaster"});
  const CandidateId candidate = add();
  const Ask verify = decide<Ask>(kBusy);
  advise(verify, R"({"verdict": "accept", "findings": []})");
  advise(ask_about(candidate), sure_of_bin(kFaster));
  EXPECT_DOUBLE_EQ(search_->find(candidate)->dollars, 0.02);
  EXPECT_DOUBLE_EQ(search_->find(candidate)->role_dollars, 0.01 + 0.01);
}

TEST_F(ForecastQueueTest, AModelOfItsOwn) {
  settings_.role_models = {{"forecaster", "wise"}};
  begin();
  EXPECT_EQ(ask_about(add()).model, "wise");
}

TEST_F(ForecastQueueTest, IsNamedOnce) {
  EXPECT_THROW(begin({"forecaster", "forecaster"}), UsageError);
}

} // namespace
} // namespace winnow::search
