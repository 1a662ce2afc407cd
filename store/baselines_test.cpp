#include "store/baselines.h"
#include "store/board_facts.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::query_file;
using testing::TestStore;

constexpr const char* kDeviceName = "Test CPU, 2 cores"; // from correct_evaluation()
constexpr double kBaselineNs = 201.5;                    // at search/0 of that evaluation

BaselineTiming timing(const std::string& name, const std::string& shape_id, double median_ns) {
  BaselineTiming timing;
  timing.name = name;
  timing.version = "2.9.1";
  timing.device = "cpu";
  timing.device_name = kDeviceName;
  timing.shape_id = shape_id;
  timing.shape = "n=1000";
  timing.median_ns = median_ns;
  timing.times_ns = {median_ns, median_ns + 1.25};
  timing.max_error_ratio = 0.5;
  timing.agrees = true;
  return timing;
}

BaselineTiming untimed(const std::string& name, const std::string& shape_id) {
  BaselineTiming none = timing(name, shape_id, 0);
  none.median_ns = std::nullopt;
  none.times_ns.clear();
  return none;
}

TEST(BaselineTimings, ComeBackAsTheyWere) {
  TestStore t;
  BaselineTiming failed = untimed("torch.compile", "search/0");
  failed.agrees = std::nullopt;
  failed.max_error_ratio = std::nullopt;
  failed.error = "no C++ compiler";
  t.store.add_baseline_timings(t.task, {timing("torch eager", "search/0", 100.5), failed});
  const auto timings = t.store.baseline_timings("axpy", kDeviceName);
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_EQ(timings[0].task, "axpy");
  EXPECT_EQ(timings[0].name, "torch eager");
  EXPECT_EQ(timings[0].version, "2.9.1");
  EXPECT_EQ(timings[0].shape, "n=1000");
  EXPECT_EQ(timings[0].median_ns, 100.5);
  EXPECT_THAT(timings[0].times_ns, ElementsAre(100.5, 101.75));
  EXPECT_EQ(timings[0].max_error_ratio, 0.5);
  EXPECT_EQ(timings[0].agrees, true);
  EXPECT_EQ(timings[0].error, "");
  EXPECT_THAT(timings[0].recorded_at, HasSubstr("T"));
  EXPECT_EQ(timings[1].error, "no C++ compiler");
  EXPECT_FALSE(timings[1].median_ns || timings[1].agrees || timings[1].max_error_ratio);
}

TEST(BaselineTimings, AreListedByTaskAndDevice) {
  TestStore t;
  BaselineTiming elsewhere = timing("torch eager", "search/0", 5);
  elsewhere.device_name = "Another CPU";
  t.store.add_baseline_timings(t.task, {timing("torch eager", "search/0", 100), elsewhere});
  EXPECT_EQ(t.store.baseline_timings("axpy", kDeviceName).size(), 1U);
  EXPECT_EQ(t.store.baseline_timings("axpy", "").size(), 2U);
  EXPECT_THAT(t.store.baseline_timings("gemm", ""), IsEmpty());
}

TEST(BaselineTimings, TheNewestMeasurementOfAShapeCounts) {
  TestStore t;
  t.store.add_baseline_timings(
      t.task, {timing("torch eager", "search/0", 100), timing("torch eager", "search/1", 300)});
  t.store.add_baseline_timings(t.task, {timing("torch eager", "search/0", 50)});
  const auto timings = t.store.baseline_timings("axpy", kDeviceName);
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_EQ(timings[0].median_ns, 300);
  EXPECT_EQ(timings[1].median_ns, 50);
}

TEST(BaselineTimings, ComeWithEvaluationsThatMeasuredALibrary) {
  TestStore t;
  tasks::Evaluation evaluation = correct_evaluation(2);
  tasks::LibraryTiming library;
  library.name = "cublaslt";
  library.samples_ns = {7, 9};
  library.median_ns = 8;
  library.max_error_ratio = 0.25;
  library.agrees = true;
  tasks::LibraryTiming refused;
  refused.name = "other";
  refused.error = "not installed";
  evaluation.cases[0].libraries = {library, refused};
  t.add("a", "1", {evaluation});
  evaluation.cases[0].libraries[0].is_fresh = false;
  evaluation.cases[0].libraries[1].is_fresh = false;
  t.add("b", "2", {evaluation});
  EXPECT_THAT(
      query_file(t.path, "SELECT name, shape_id, median_ns, times_ns, agrees, error "
                         "FROM baseline_timings ORDER BY id"),
      ElementsAre("cublaslt|search/0|8.0|[7.0,9.0]|1|", "other|search/0||[]||not installed"))
      << "once, by the evaluation that measured it";
}

/// Timed at a search shape and a hidden shape, like every evaluation.
tasks::Evaluation promoted_evaluation(double speedup) {
  tasks::Evaluation evaluation = correct_evaluation(speedup);
  tasks::CaseResult& hidden = evaluation.cases.back();
  EXPECT_EQ(hidden.set, tasks::ShapeSet::Promotion);
  hidden.median_ns = 50;
  hidden.baseline_median_ns = 4000;
  hidden.speedup = 80;
  return evaluation;
}

struct RankedStore : TestStore {
  RankedStore() { add("a", "best", {promoted_evaluation(2)}); }
  std::vector<LeaderboardRow> rows() { return store.leaderboard({}); }
  BaselineStanding only_standing() {
    const auto standings = store.baseline_standings(rows());
    EXPECT_EQ(standings.size(), 1U);
    return standings.empty() ? BaselineStanding{} : standings.front();
  }
};

TEST(BaselineStandings, SayTheTimeRelativeToBaselineCu) {
  RankedStore t;
  t.store.add_baseline_timings(t.task, {untimed("torch eager", "tiny/0"),
                                        timing("torch eager", "search/0", kBaselineNs / 2)});
  const BaselineStanding standing = t.only_standing();
  EXPECT_EQ(standing.task, "axpy");
  EXPECT_EQ(standing.name, "torch eager");
  EXPECT_DOUBLE_EQ(standing.relative_time, 0.5);
  EXPECT_EQ(standing.shapes, 1);
  EXPECT_TRUE(standing.agrees);
  EXPECT_EQ(standing.note, "");
}

TEST(BaselineStandings, AreTheGeometricMeanOverTheShapes) {
  TestStore t;
  tasks::Evaluation evaluation = promoted_evaluation(2);
  evaluation.cases.push_back(evaluation.cases[0]);
  evaluation.cases.back().shape_id = "search/1";
  t.add("a", "best", {evaluation});
  t.store.add_baseline_timings(t.task, {timing("torch eager", "search/0", kBaselineNs * 4),
                                        timing("torch eager", "search/1", kBaselineNs)});
  const auto standings = t.store.baseline_standings(t.store.leaderboard({}));
  ASSERT_EQ(standings.size(), 1U);
  EXPECT_DOUBLE_EQ(standings[0].relative_time, 2);
  EXPECT_EQ(standings[0].shapes, 2);
}

TEST(BestAlternative, IsTheFastestWithRightAnswers) {
  RankedStore t;
  const auto first_row = [&t] {
    std::vector<LeaderboardRow> rows = t.rows();
    board_facts(t.store, {}, rows);
    return rows.at(0);
  };
  EXPECT_EQ(first_row().best_alternative, "");
  BaselineTiming wrong = timing("TF32, mm", "search/0", kBaselineNs / 8);
  wrong.agrees = false;
  BaselineTiming library = timing("cuDNN attention", "search/0", kBaselineNs / 2);
  library.times_ns.assign(100, kBaselineNs / 2);
  library.times_ns.resize(140, kBaselineNs / 4);
  t.store.add_baseline_timings(t.task,
                               {timing("torch eager", "search/0", kBaselineNs), library, wrong});
  const LeaderboardRow row = first_row();
  EXPECT_THAT(row.best_alternative, ::testing::StartsWith("cuDNN attention "));
  EXPECT_DOUBLE_EQ(row.versus_best, row.speedup / 2);
  EXPECT_DOUBLE_EQ(row.versus_best_bounds.high, row.speedup_bounds.high / 2);
}

TEST(BaselineStandings, OfAnotherDeviceAreNotCompared) {
  RankedStore t;
  BaselineTiming elsewhere = timing("torch eager", "search/0", 5);
  elsewhere.device_name = "Another CPU";
  t.store.add_baseline_timings(t.task, {elsewhere});
  EXPECT_THAT(t.store.baseline_standings(t.rows()), IsEmpty());
}

TEST(BaselineStandings, AWrongAnswerAtAnyShapeIsNotCompared) {
  RankedStore t;
  BaselineTiming wrong = untimed("torch eager", "tiny/0");
  wrong.agrees = false;
  wrong.error = "c(0) = 1, expected 2";
  t.store.add_baseline_timings(t.task, {wrong, timing("torch eager", "search/0", 100)});
  const BaselineStanding standing = t.only_standing();
  EXPECT_EQ(standing.relative_time, 0);
  EXPECT_FALSE(standing.agrees);
  EXPECT_THAT(standing.note, HasSubstr("does not agree with reference.cu at tiny/0"));
  EXPECT_THAT(standing.note, HasSubstr("c(0) = 1, expected 2"));
}

TEST(BaselineStandings, AMissingTimeIsNamed) {
  RankedStore t;
  BaselineTiming failed = untimed("torch.compile", "search/0");
  failed.error = "no C++ compiler";
  t.store.add_baseline_timings(t.task, {failed});
  const BaselineStanding standing = t.only_standing();
  EXPECT_EQ(standing.relative_time, 0);
  EXPECT_THAT(standing.note, HasSubstr("no time at search/0: no C++ compiler"));
}

TEST(BaselineStandings, StandInTheDocumentOfABoard) {
  RankedStore t;
  t.store.add_baseline_timings(t.task, {timing("torch eager", "search/0", kBaselineNs * 1.3),
                                        untimed("torch.compile", "search/0")});
  const auto rows = t.rows();
  const auto standings = t.store.baseline_standings(rows);
  const nlohmann::json document = leaderboard_json(rows, {standings, {}, {}, {}});
  EXPECT_EQ(document["rows"][0]["speedup_versus"], "baseline.cu");
  ASSERT_EQ(document["baselines"].size(), 2U);
  EXPECT_NEAR(document["baselines"][0]["relative_time"].get<double>(), 1.3, 1e-12);
  EXPECT_EQ(document["baselines"][0]["time_versus"], "baseline.cu");
  EXPECT_EQ(document["baselines"][1]["relative_time"], nullptr);
}

} // namespace
} // namespace winnow::store
