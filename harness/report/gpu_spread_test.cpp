#include "harness/report/board_report.h"
#include "store/test_store.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using harness::export_run;
using harness::Format;
using harness::format_leaderboard;
using testing::correct_evaluation;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TestStore;

double percent_between(const std::vector<double>& microseconds) {
  std::vector<BaselineTime> times;
  for (const double us : microseconds) {
    times.push_back({"GPU-" + std::to_string(times.size()), us * 1000});
  }
  return 100 * spread_of(times).between;
}

tasks::Evaluation judged_on(const std::string& uuid, double baseline_ns) {
  tasks::Evaluation evaluation = correct_evaluation(2);
  evaluation.device = "cuda";
  evaluation.device_name = "NVIDIA H100";
  evaluation.device_uuid = uuid;
  evaluation.cases.at(0).baseline_median_ns = baseline_ns;
  return evaluation;
}

std::vector<GpuSpread> spreads_of(const TestStore& t) {
  return t.store.gpu_spreads(t.store.leaderboard({}));
}

std::string board_of(const TestStore& t, Format format) {
  return format_leaderboard(t.store.leaderboard({}), format, {{}, spreads_of(t), {}, {}}, 0);
}

// Times of four GPUs of a host with H100s, in microseconds: axpy, gemm_f16 and row_softmax.
TEST(GpuSpread, IsTheSlowestGpuOverTheFastest) {
  EXPECT_NEAR(percent_between({71.54, 71.46, 71.55, 71.55}), 0.126, 0.001);
  EXPECT_NEAR(percent_between({17032.58, 16980.75, 17102.88, 17096.37}), 0.719, 0.001);
  EXPECT_NEAR(percent_between({140.35, 135.71, 137.12, 138.13}), 3.419, 0.001);
}

TEST(GpuSpread, TellsGpusFromRepetitions) {
  const GpuSpread spread = spread_of({{"a", 100}, {"a", 110}, {"a", 121}, {"b", 220}});
  EXPECT_EQ(spread.gpus, 2);
  EXPECT_EQ(spread.evaluations, 4);
  EXPECT_NEAR(spread.between, 1, 1e-9) << "220 / the median of 100, 110 and 121";
  EXPECT_NEAR(spread.within, 0.0953, 0.0001) << "log 1.1, from three evaluations on one GPU";
}

TEST(GpuSpread, IgnoresTimesThatNoGpuHas) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const GpuSpread spread =
      spread_of({{"", 1}, {"a", 0}, {"a", -1}, {"a", nan}, {"b", infinity}, {"c", 5}});
  EXPECT_EQ(spread.gpus, 1);
  EXPECT_EQ(spread.evaluations, 1);
  EXPECT_EQ(spread.between, 0);
  EXPECT_EQ(spread.within, 0);
  EXPECT_EQ(spread_of({}).gpus, 0);
}

TEST(GpuSpread, StandsBelowABoardOfSeveralGpus) {
  TestStore t;
  t.add("a", "1", {judged_on("GPU-1", 200)});
  t.add("b", "2", {judged_on("GPU-2", 201)});
  const std::string note =
      "GPUs of this model differ by up to 0.50 % in the time of baseline.cu (2 "
      "GPUs, 2 evaluations; a part of this may be noise, because no GPU has two "
      "evaluations)";
  EXPECT_THAT(board_of(t, Format::Table), HasSubstr(note + ": a smaller difference"));
  EXPECT_THAT(board_of(t, Format::Markdown), HasSubstr("\n- " + note));
  EXPECT_THAT(export_run(t.store, {}, Format::Markdown), HasSubstr(note));
  const auto spreads = nlohmann::json::parse(board_of(t, Format::Json))["gpu_spreads"];
  ASSERT_EQ(spreads.size(), 1U);
  EXPECT_EQ(spreads[0]["gpus"], 2);
  EXPECT_NEAR(spreads[0]["between"].get<double>(), 0.005, 1e-9);
  EXPECT_TRUE(spreads[0]["within"].is_null()) << "no GPU has two evaluations";
}

TEST(GpuSpread, RepeatedEvaluationsTellHowMuchOneGpuVaries) {
  TestStore t;
  const RowId candidate = t.add("a", "1", {judged_on("GPU-1", 200)});
  t.store.add_trials(candidate, {judged_on("GPU-1", 202), judged_on("GPU-2", 210)}, "", 0);
  ASSERT_EQ(spreads_of(t).size(), 1U);
  EXPECT_EQ(spreads_of(t)[0].evaluations, 3);
  EXPECT_GT(t.store.baseline_spread(t.task, "NVIDIA H100", 7), 0)
      << "intervals of finals know, too";
  EXPECT_THAT(board_of(t, Format::Table), HasSubstr("repeated on one GPU the time varies by"));
}

TEST(GpuSpread, IsNotSaidOfOneGpuOrOfACpu) {
  TestStore t;
  t.add("a", "1", {judged_on("GPU-1", 200)});
  t.add("b", "2", {judged_on("GPU-1", 300)});
  t.add("c", "3", {correct_evaluation(2)});
  EXPECT_THAT(spreads_of(t), IsEmpty());
  EXPECT_THAT(board_of(t, Format::Table), Not(HasSubstr("GPUs of this model")));
}

TEST(GpuSpread, RestsOnlyOnEvaluationsThatCompare) {
  TestStore t;
  const RowId candidate = t.add("a", "1", {judged_on("GPU-1", 200)});
  tasks::Evaluation other_evaluator = judged_on("GPU-2", 300);
  other_evaluator.evaluator_version += 1;
  tasks::Evaluation other_model = judged_on("GPU-3", 300);
  other_model.device_name = "NVIDIA H200";
  tasks::Evaluation not_timed = judged_on("GPU-4", 0);
  t.store.add_trials(candidate, {other_evaluator, other_model, not_timed}, "", 0);
  t.store.add_trials(candidate, {judged_on("GPU-5", 300)}, "", 3); // a heat of a tuning
  EXPECT_THAT(spreads_of(t), IsEmpty());
}

TEST(GpuSpread, TakesACopiedTimeOnce) {
  TestStore t;
  const RowId candidate = t.add("a", "1", {judged_on("GPU-1", 200)});
  t.store.add_trials(candidate, {judged_on("GPU-1", 200), judged_on("GPU-2", 210)}, "", 0);
  ASSERT_EQ(spreads_of(t).size(), 1U);
  EXPECT_EQ(spreads_of(t)[0].evaluations, 2);
}

TEST(GpuSpread, LeavesOutAnEvaluationThatEndedEarly) {
  TestStore t;
  tasks::Evaluation two_shapes = judged_on("GPU-1", 200);
  two_shapes.cases.push_back(two_shapes.cases.at(0));
  two_shapes.cases.back().shape_id = "search/1";
  const RowId candidate = t.add("a", "1", {two_shapes});
  t.store.add_trials(candidate, {judged_on("GPU-2", 900)}, "", 0);
  EXPECT_THAT(spreads_of(t), IsEmpty());
  two_shapes.device_uuid = "GPU-2";
  t.store.add_trials(candidate, {two_shapes}, "", 0);
  ASSERT_EQ(spreads_of(t).size(), 1U);
  EXPECT_EQ(spreads_of(t)[0].between, 0);
}

} // namespace
} // namespace winnow::store
