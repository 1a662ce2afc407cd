#include "base/error.h"
#include "store/advice.h"
#include "store/test_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::query_file;
using testing::sample_task;
using testing::TestStore;

const std::string kReject = R"({"verdict":"reject","findings":[]})";

/// A store with a call for each role.
class AdviceTest : public ::testing::Test {
protected:
  AdviceTest() {
    for (const char* key : {"axpy/judge/0", "axpy/verify/0", "axpy/verify/1", "axpy/meta/0"}) {
      answer(key);
    }
    parent_ = t_.add("", "parent", {correct_evaluation(1)});
    child_ = t_.add("axpy/0/0", "child", {correct_evaluation(2)});
  }

  void answer(const std::string& key, double dollars = 0.5) {
    const RowId call =
        t_.store.begin_call(t_.run, t_.task, key, "chat", "m", nlohmann::json::object());
    ModelCallRow row;
    row.status = "ok";
    row.dollars = dollars;
    row.usage.prompt_tokens = 100;
    row.usage.completion_tokens = 10;
    t_.store.finish_call(call, row);
  }

  TestStore t_;
  RowId parent_ = 0, child_ = 0;
};

TEST_F(AdviceTest, IsStoredOnce) {
  t_.store.add_advice(t_.run, {"axpy/judge/0", "judge", parent_, R"({"change":"a"})", ""});
  t_.store.add_advice(t_.run, {"axpy/judge/0", "judge", parent_, R"({"change":"b"})", ""});
  const auto found = t_.store.find_advice(t_.run, "axpy/judge/0");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->content, R"({"change":"a"})");
  EXPECT_EQ(found->candidate, parent_);
  EXPECT_FALSE(t_.store.find_advice(t_.run, "axpy/judge/1"));
  EXPECT_EQ(t_.store.advice_about(parent_, "judge")->key, "axpy/judge/0");
  EXPECT_FALSE(t_.store.advice_about(parent_, "verifier"));
}

TEST_F(AdviceTest, OfAnUnknownCallIsAnError) {
  EXPECT_THROW(t_.store.add_advice(t_.run, {"axpy/judge/9", "judge", parent_, "", "x"}), Error);
  EXPECT_THROW(t_.store.add_advice_scores(t_.run, "axpy/judge/9", {}), Error);
}

TEST_F(AdviceTest, AReplyOfNoUseHasAReasonAndNoContent) {
  t_.store.add_advice(t_.run, {"axpy/meta/0", "meta-prompter", 0, "", "the reply has no JSON"});
  const auto found = t_.store.find_advice(t_.run, "axpy/meta/0");
  EXPECT_EQ(found->content, "");
  EXPECT_EQ(found->problem, "the reply has no JSON");
  EXPECT_EQ(found->candidate, 0);
  const std::vector<RoleTotals> totals = role_totals(t_.store, t_.run);
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_EQ(totals[0].calls, 1);
  EXPECT_EQ(totals[0].useful, 0);
}

TEST_F(AdviceTest, ScoresAreCountedByRole) {
  t_.store.add_advice(t_.run, {"axpy/judge/0", "judge", parent_, R"({"change":"a"})", ""});
  const std::vector<AdviceScore> scores{{child_, "time_us", -30, -50, true},
                                        {child_, "dram_throughput_pct", 20, -10, false}};
  t_.store.add_advice_scores(t_.run, "axpy/judge/0", scores);
  t_.store.add_advice_scores(t_.run, "axpy/judge/0", scores); // a resumed run scores again
  const JudgeRecord record = judge_record(t_.store, t_.run);
  EXPECT_EQ(record.scored, 2);
  EXPECT_EQ(record.correct, 1);
  EXPECT_DOUBLE_EQ(record.median_error, 25);
  EXPECT_EQ(judge_record(t_.store, t_.run, "another").scored, 0);
  const std::vector<RoleTotals> totals = role_totals(t_.store, t_.run);
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_EQ(totals[0].role, "judge");
  EXPECT_EQ(totals[0].calls, 1);
  EXPECT_EQ(totals[0].scored, 2);
  EXPECT_EQ(totals[0].correct, 1);
  EXPECT_EQ(totals[0].prompt_tokens, 100);
  EXPECT_DOUBLE_EQ(totals[0].dollars.value(), 0.5);
}

TEST_F(AdviceTest, ForecastsAreComparedWithThoseWithoutAModel) {
  for (const char* key : {"axpy/forecast/0", "axpy/forecast/1", "axpy/forecast/2"}) {
    answer(key);
  }
  tasks::Evaluation nobody;
  nobody.device = "cpu";
  const RowId left_out = t_.add("axpy/0/1", "left out", {nobody});
  const char* const chances = R"({"chances":[1,0,0,0,0,0,0,0,0]})";
  t_.store.add_advice(t_.run, {"axpy/forecast/0", "forecaster", child_, chances, ""});
  t_.store.add_advice(t_.run, {"axpy/forecast/1", "forecaster", left_out, chances, ""});
  t_.store.add_advice(t_.run, {"axpy/forecast/2", "forecaster", parent_, chances, ""});
  EXPECT_FALSE(forecast_record(t_.store, t_.run).score);
  const ForecastRow audit{2, 0.75, 0.25, 0.01, true, true};
  t_.store.add_forecast_score(t_.run, "axpy/forecast/0", audit);
  t_.store.add_forecast_score(t_.run, "axpy/forecast/0", audit); // a resumed run scores again
  t_.store.add_forecast_score(t_.run, "axpy/forecast/2", {1, 0.25, 0.75, 0.5, false, true});
  const ForecastRecord record = forecast_record(t_.store, t_.run, "axpy");
  EXPECT_EQ(record.measured, 2);
  EXPECT_EQ(record.left_out, 1);
  EXPECT_EQ(record.audited, 1);
  EXPECT_EQ(record.audited_beat, 1);
  EXPECT_DOUBLE_EQ(record.score.value(), 0.5);
  EXPECT_DOUBLE_EQ(record.model_free.value(), 0.5);
  EXPECT_EQ(forecast_record(t_.store, t_.run, "another").measured, 0);
  const std::vector<StoredForecast> all = forecasts(t_.store, t_.run);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].candidate, parent_);
  EXPECT_EQ(all[1].score->score, 0.75);
  EXPECT_TRUE(all[1].score->is_audit);
  EXPECT_TRUE(all[2].is_left_out);
  EXPECT_FALSE(all[2].score);
}

TEST_F(AdviceTest, TheVerifierIsCountedByAnswerAndVerdict) {
  t_.store.add_advice(t_.run, {"axpy/verify/0", "verifier", child_, kReject, ""});
  t_.store.add_advice(
      t_.run, {"axpy/verify/1", "verifier", parent_, R"({"verdict":"accept","findings":[]})", ""});
  t_.store.add_advice_scores(t_.run, "axpy/verify/0", {{child_, "fails", 1, 0, false}});
  t_.store.add_advice_scores(t_.run, "axpy/verify/1", {{parent_, "fails", 0, 1, false}});
  const VerifierRecord record = verifier_record(t_.store, t_.run);
  EXPECT_EQ(record.rejected, 1);
  EXPECT_EQ(record.audited_correct, 1);
  EXPECT_EQ(record.audited_failed, 0);
  EXPECT_EQ(record.accepted_correct, 0);
  EXPECT_EQ(record.accepted_failed, 1);
}

TEST_F(AdviceTest, ArmsHaveTheMeanGainOfTheirChildren) {
  const RowId other = t_.add("axpy/0/1", "other", {correct_evaluation(3)});
  t_.store.add_prompt_arm(child_, "axpy/meta/0", true, false, 0.2);
  t_.store.add_prompt_arm(child_, "", false, true, 9); // known already
  t_.store.add_prompt_arm(other, "axpy/meta/0", false, true, 0.4);
  const auto variants = prompt_arm_totals(t_.store, t_.run, PromptArms::Variant);
  ASSERT_EQ(variants.size(), 1U);
  EXPECT_EQ(variants[0].arm, "axpy/meta/0");
  EXPECT_EQ(variants[0].children, 2);
  EXPECT_DOUBLE_EQ(variants[0].mean_gain, 0.3);
  EXPECT_NEAR(variants[0].variance, 0.02, 1e-12);
  const auto memory = prompt_arm_totals(t_.store, t_.run, PromptArms::Memory);
  ASSERT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory[0].arm, "with");
  EXPECT_EQ(memory[1].arm, "without");
  EXPECT_DOUBLE_EQ(memory[1].mean_gain, 0.4);
  const auto exemplar = prompt_arm_totals(t_.store, t_.run, PromptArms::Exemplar);
  ASSERT_EQ(exemplar.size(), 2U);
  EXPECT_EQ(exemplar[0].arm, "with");
  EXPECT_DOUBLE_EQ(exemplar[0].mean_gain, 0.4);
}

TEST_F(AdviceTest, LessonsComeFromOtherTasksAndOtherRuns) {
  const RowId earlier = t_.store.create_run("earlier", {{"calls", 1}}, {{"cpu", "test"}});
  const RowId task = t_.store.add_task(sample_task("gemm"));
  const auto add = [&](const std::string& key, RowId parent, double speedup) {
    t_.store.begin_call(earlier, task, key, "chat", "m", nlohmann::json::object());
    CandidateRow row;
    row.call_key = key;
    row.origin = "model";
    row.text = key;
    row.parent_id = parent;
    const RowId candidate = t_.store.add_candidate(earlier, task, row);
    tasks::Evaluation evaluation = correct_evaluation(speedup);
    evaluation.speedup_bounds = {speedup * 0.9, speedup * 1.1};
    t_.store.add_evaluations(candidate, {evaluation});
    return candidate;
  };
  const RowId first = add("gemm/0/0", 0, 1);
  const RowId second = add("gemm/0/1", first, 2);
  add("gemm/0/2", second, 2.02); // no visible gain
  const std::string device = "Test CPU, 2 cores";
  const std::vector<Lesson> found = lessons(t_.store, t_.run, "axpy", device, 7, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].parent, first);
  EXPECT_EQ(found[0].child, second);
  EXPECT_EQ(found[0].task, "gemm");
  EXPECT_DOUBLE_EQ(found[0].gain, 2);
  EXPECT_NEAR(found[0].gain_bounds.low, 1.8 / 1.1, 1e-12);
  EXPECT_NEAR(found[0].gain_bounds.high, 2.2 / 0.9, 1e-12);
  EXPECT_THAT(lessons(t_.store, t_.run, "gemm", device, 7, 10), IsEmpty()) << "the same task";
  EXPECT_THAT(lessons(t_.store, earlier, "axpy", device, 7, 10), IsEmpty()) << "the same run";
  EXPECT_THAT(lessons(t_.store, t_.run, "axpy", "other", 7, 10), IsEmpty());
  EXPECT_THAT(lessons(t_.store, t_.run, "axpy", device, 8, 10), IsEmpty());
}

} // namespace
} // namespace winnow::store
