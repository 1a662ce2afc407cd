// Runs with a forecaster, whose only device is slower than the models.
#include "harness/report/role_report.h"
#include "harness/run/testing/run_loop_fixture.h"
#include "search/forecast_queue.h"
#include "store/advice.h"
#include "tests/support/json_page.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::HasSubstr;
using testing::IsEmpty;
using End = RunOutcome::End;

std::string forecast_of_bin(std::size_t bin) {
  nlohmann::json chances = nlohmann::json::array();
  for (std::size_t i = 0; i < search::kSpeedBins; ++i) {
    chances.push_back(i == bin ? 0.92 : 0.01);
  }
  return nlohmann::json{{"chances", chances}, {"reason", "it spills"}}.dump();
}

bool is_forecast(const ModelRequest& request) {
  return request.key.find("/forecast/") != std::string::npos;
}

/// Takes a while, and counts the kernels that reach it.
class SlowLane : public test::FakeLane {
public:
  explicit SlowLane(std::atomic<int>& count) : count_(count) {}
  std::vector<tasks::Evaluation> evaluate(const evaluators::EvaluationRequest& request,
                                          const std::stop_token& stop) override {
    ++count_;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    return FakeLane::evaluate(request, stop);
  }

private:
  std::atomic<int>& count_;
};

class ForecastRun : public test::RunLoopTest {
protected:
  ForecastRun() {
    tasks_.resize(1);
    config_.strategy = "best-of-n";
    config_.proposals = 20;
    config_.endpoint.parallel = 12;
    config_.roles = {"forecaster"};
    lane_ = [this] { return std::make_unique<SlowLane>(measured_); };
  }

  /// Every kernel has this speedup, and every forecast is nearly sure of this bin.
  ModelReply answer(const ModelRequest& request) const {
    return test::ok_reply(is_forecast(request) ? forecast_of_bin(bin_)
                                               : test::reply_text("correct", speedup_));
  }
  RunOutcome run_to_its_end() {
    ScriptedModel endpoint([this](const ModelRequest& request) { return answer(request); });
    return session(endpoint);
  }
  nlohmann::json forecaster() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    return roles_json(store, *store.find_run(run_name_)).at("roles").at(0);
  }
  std::string report() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    return roles_text(roles_json(store, *store.find_run(run_name_)));
  }

  std::size_t bin_ = 0; ///< much slower
  double speedup_ = 0.4;
  std::atomic<int> measured_{0};
};

TEST_F(ForecastRun, AnImprobableKernelDoesNotReachTheDevice) {
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const search::Settings settings = search_settings(config_, tasks_[0]);
  int left_out = 0;
  for (const store::CandidateState& candidate : store.candidates(1)) {
    if (candidate.best->verdict == tasks::Verdict::NotJudged) {
      ++left_out;
      EXPECT_FALSE(search::is_measured_anyway(settings, candidate.row.call_key));
      EXPECT_THAT(candidate.best->detail, HasSubstr("improbable: it spills"));
    } else {
      EXPECT_EQ(candidate.best->verdict, tasks::Verdict::Correct);
    }
  }
  EXPECT_GE(left_out, 3) << "the models are much faster than the device";
  EXPECT_EQ(measured_, 21 - left_out) << "the baseline and the kernels that were not left out";
  EXPECT_EQ(forecaster()["forecast_scores"]["left_out"], left_out);
  EXPECT_THAT(report(), HasSubstr(fmt::format("forecaster: left out {} kernels", left_out)));
  EXPECT_THAT(report(), HasSubstr("likely below 0.5x; left out"));
  EXPECT_GE(recompute_decisions(), 20 + left_out);
}

TEST_F(ForecastRun, TellsOnceThatForecastsAreNoBetterThanNone) {
  bin_ = 8; // much faster, so nothing is left out
  speedup_ = 0.9;
  config_.proposals = 30;
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  EXPECT_EQ(measured_, 31);
  EXPECT_THAT(said_, HasSubstr("a: the forecaster is switched off: the mean score of 8 measured "
                               "forecasts is"));
  EXPECT_THAT(report(), HasSubstr("a: the forecaster was switched off after "));
  EXPECT_THAT(report(), HasSubstr("likely 2x or more; measured 0.900x, score "));
  recompute_decisions();
}

TEST_F(ForecastRun, HasNoEffectWhileTheDeviceIsFree) {
  config_.endpoint.parallel = 1; // a device for two evaluations at a time, and one call
  config_.strategy = "one-plus-one";
  config_.proposals = 6;
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  EXPECT_EQ(measured_, 7);
  for (const std::string& key : recorded_keys()) {
    EXPECT_EQ(key.find("forecast"), std::string::npos) << key;
  }
}

TEST_F(ForecastRun, PromptsShowBinsFactsAndTheRecord) {
  bin_ = 8;
  config_.proposals = 30;
  std::string shown;
  prompt_ = [&](const agents::ProposalContext& context) {
    if (context.op == "forecast") {
      EXPECT_EQ(context.bins.size(), search::kSpeedBins);
      EXPECT_EQ(context.bins.front(), "below 0.5x");
      EXPECT_EQ(context.bins.at(4), "0.97x to 1.03x");
      EXPECT_THAT(context.evidence, testing::Contains(HasSubstr("time_us = ")));
      EXPECT_TRUE(context.second && context.parent);
      shown += context.record;
    }
    return prompt(context);
  };
  // Not much faster than the device, so that some forecasts are measured before others are asked
  // for.
  ScriptedModel endpoint([this](const ModelRequest& request) {
    if (!is_forecast(request)) {
      std::this_thread::sleep_for(std::chrono::milliseconds{8});
    }
    return answer(request);
  });
  ASSERT_EQ(session(endpoint).end, End::Finished);
  EXPECT_THAT(shown, HasSubstr("measured forecasts is 0."));
}

TEST_F(ForecastRun, EveryCrashGoesOnAsTheLogSays) {
  config_.proposals = 10;
  std::int64_t writes = 0;
  {
    ScriptedModel endpoint([this](const ModelRequest& request) { return answer(request); });
    ASSERT_EQ(session(endpoint, [&] { ++writes; }).end, End::Finished);
  }
  for (std::int64_t crash_at = 3; crash_at < writes; crash_at += 11) {
    SCOPED_TRACE(fmt::format("after write {}", crash_at));
    forget();
    {
      ScriptedModel endpoint([this](const ModelRequest& request) { return answer(request); });
      crash_after(crash_at, endpoint);
    }
    const std::set<std::string> paid = recorded_keys();
    ScriptedModel endpoint([this](const ModelRequest& request) { return answer(request); });
    ASSERT_EQ(session(endpoint).end, End::Finished);
    for (const std::string& key : endpoint.asked()) {
      EXPECT_FALSE(paid.contains(key)) << key << " was paid twice";
    }
    EXPECT_GE(recompute_decisions(), 2 * 5);
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    EXPECT_EQ(store.candidates(1).size(), 11U);
    for (const store::CandidateState& candidate : store.candidates(1)) {
      EXPECT_TRUE(candidate.best) << candidate.row.call_key << " was lost";
    }
  }
}

TEST_F(ForecastRun, ALimitSkipsTheForecasterAndNotTheKernel) {
  config_.limits.calls = 20;
  ScriptedModel endpoint([this](const ModelRequest& request) { return answer(request); });
  session(endpoint);
  EXPECT_LE(recorded_keys().size(), 20U);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  for (const store::CandidateState& candidate : store.candidates(1)) {
    EXPECT_TRUE(candidate.best);
  }
  recompute_decisions();
}

TEST_F(ForecastRun, TheJsonPageListsEveryFieldOfForecasts) {
  ASSERT_EQ(run_to_its_end().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  EXPECT_THAT(::winnow::test::JsonPage(WINNOW_SOURCE_DIR)
                  .missing(roles_json(store, *store.find_run(run_name_))),
              IsEmpty());
}

} // namespace
} // namespace winnow::harness
