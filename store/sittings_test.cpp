#include "store/export.h"
#include "store/run_store.h"
#include "store/test_store.h"
#include "tasks/plan/kernel_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::query_file;
using testing::sample_task;
using testing::TestStore;

constexpr int kEvaluator = 7; // from correct_evaluation()

std::string kernel_of(const std::string& text) {
  return tasks::kernel_digest(text, correct_evaluation(1).parameters);
}

tasks::SittingRow placed(const std::string& text, int rank, double speedup) {
  tasks::SittingRow row;
  row.kernel = kernel_of(text);
  row.verdict = tasks::Verdict::Correct;
  row.rank = rank;
  row.score_ns = 5000 / speedup;
  row.speedup = speedup;
  row.speedup_bounds = {speedup * 0.5, speedup * 2};
  row.held_out_speedup = speedup / 2;
  row.times = {{"search/0", 5000 / speedup, 5000, speedup, true},
               {"held_out/0", 10'000 / speedup, 5000, speedup / 2, true}};
  return row;
}

tasks::SittingRow fallen(const std::string& text) {
  tasks::SittingRow row;
  row.kernel = kernel_of(text);
  row.verdict = tasks::Verdict::Wrong;
  row.detail = "right in earlier runs, wrong in the final";
  return row;
}

tasks::SittingResult sitting(std::vector<tasks::SittingRow> rows) {
  tasks::SittingResult result;
  result.device = "cpu";
  result.device_name = "Test CPU, 2 cores";
  result.device_uuid = "GPU-1";
  result.driver = "CUDA 13.0";
  result.worker = "beta";
  result.evaluator_version = kEvaluator;
  result.seed = 0xfedcba9876543210U;
  result.rounds = 5;
  result.baseline_spread = 0.25;
  result.widening = 2;
  result.started_at = "2026-11-21T10:00:00.000Z";
  result.seconds = 1.5;
  result.rows = std::move(rows);
  return result;
}

/// For instance "1 fast 3.0; - slow 9.0 (not in the final)".
std::string board(const std::vector<LeaderboardRow>& rows) {
  std::string text;
  for (const LeaderboardRow& row : rows) {
    text += fmt::format("{}{}{} {} {:.1f}{}", text.empty() ? "" : "; ", row.tied ? "=" : "",
                        row.rank > 0 ? std::to_string(row.rank) : "-", row.candidate_id,
                        row.speedup, row.flag.empty() ? "" : " (" + row.flag + ")");
  }
  return text;
}

LeaderboardQuery of_run(const std::string& run) {
  return {.task = "", .device = "", .run = run, .top = 10};
}

TEST(Sittings, OrderTheirBoardAndOthersComeBelow) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(2)});
  t.add("b", "two", {correct_evaluation(3)});
  t.add("c", "three", {correct_evaluation(9)});
  EXPECT_EQ(board(t.store.leaderboard({})),
            "1 3 9.0 (not in the final); 2 2 3.0 (not in the final); 3 1 2.0 (not in the final)");
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 4), placed("two", 1, 3.9)}));
  const auto rows = t.store.leaderboard({});
  EXPECT_EQ(board(rows), "=1 1 4.0; =1 2 3.9; - 3 9.0 (not in the final)");
  EXPECT_EQ(rows[0].score_ns, 1250);
  EXPECT_EQ(rows[0].held_out_speedup, 2);
  EXPECT_EQ(rows[0].speedup_bounds.high, 8);
  EXPECT_EQ(rows[2].unranked, "not in the final");
  EXPECT_TRUE(rows[2].comparable);
  EXPECT_EQ(rows[2].held_out_speedup, 0);
  EXPECT_EQ(board(t.store.leaderboard(of_run("first"))), board(rows));
  EXPECT_EQ(board(t.store.leaderboard({.task = "", .device = "", .run = "", .top = 1})),
            "=1 1 4.0");
}

// The evaluations say that b is faster. The final says that a is.
TEST(Sittings, AnExportHasTheNumbersThatItsRanksRestOn) {
  TestStore t;
  t.add("x/0/0", "a", {correct_evaluation(2)});
  t.add("x/0/1", "b", {correct_evaluation(8)});
  t.store.add_sitting(std::nullopt, t.task, sitting({placed("a", 1, 6), placed("b", 2, 4)}));
  t.add("x/0/2", "late", {correct_evaluation(5)});
  const auto document = export_document(t.store, {});
  std::vector<double> speedups;
  for (const auto& candidate : document.at("candidates")) {
    speedups.push_back(candidate.at("board").at("speedup"));
  }
  EXPECT_THAT(speedups, ElementsAre(6, 4, 5));
  EXPECT_EQ(document["candidates"][0]["evaluation"]["speedup"], 2);
}

TEST(Sittings, TheNewestCounts) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(2)});
  t.add("b", "two", {correct_evaluation(3)});
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 4), placed("two", 2, 3)}));
  t.store.add_sitting(std::nullopt, t.task, sitting({placed("two", 1, 5)}));
  EXPECT_EQ(board(t.store.leaderboard({})), "1 2 5.0; - 1 2.0 (not in the final)");
  EXPECT_EQ(board(t.store.leaderboard(of_run("first"))), "1 1 4.0; 2 2 3.0")
      << "a run's board has the newest sitting that was made for it";
}

TEST(Sittings, WhoIsWrongLosesItsPlaceForGood) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(2)});
  t.add("b", "two", {correct_evaluation(3)});
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 4), fallen("two")}));
  EXPECT_EQ(board(t.store.leaderboard({})),
            "1 1 4.0; - 2 3.0 (lost its place in the final: wrong)");
  const auto next =
      t.store.finalists(sample_task(), "Test CPU, 2 cores", kEvaluator, 8, std::nullopt);
  EXPECT_EQ(board(next), "1 1 4.0");
}

TEST(Sittings, AKernelThatLeavesTheBoardLeavesItsRank) {
  TestStore t;
  const RowId one = t.add("a", "one", {correct_evaluation(2)});
  t.add("b", "two", {correct_evaluation(3)});
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 4), placed("two", 2, 3)}));
  t.store.supersede_evaluation(one, testing::wrong_evaluation());
  EXPECT_EQ(board(t.store.leaderboard({})), "1 2 3.0");
}

TEST(Sittings, IntervalsFromOutsideAreWidened) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(2)});
  tasks::Evaluation bounded = correct_evaluation(3);
  bounded.speedup_bounds = {2.5, 3.5};
  t.add("b", "two", {bounded});
  EXPECT_EQ(t.store.leaderboard({})[0].speedup_bounds.low, 2.5);
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 4)}));
  const LeaderboardRow outside = t.store.leaderboard({}).at(1);
  EXPECT_EQ(outside.speedup_bounds.low, 1.25);
  EXPECT_EQ(outside.speedup_bounds.high, 7);
}

TEST(Sittings, ComeBackAsTheyWereStored) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(2)});
  t.add("b", "two", {correct_evaluation(3)});
  tasks::SittingRow first = placed("one", 1, 4);
  first.races = {{kernel_of("two"), "faster", 1.5, {1.25, 1.75}, 5}};
  t.store.add_sitting(t.run, t.task, sitting({first, fallen("two")}));
  const auto stored = t.store.sittings();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].run, t.run);
  EXPECT_EQ(stored[0].task, "axpy");
  const tasks::SittingResult& result = stored[0].result;
  EXPECT_EQ(result.seed, 0xfedcba9876543210U);
  EXPECT_EQ(result.widening, 2);
  EXPECT_EQ(result.device_uuid, "GPU-1");
  EXPECT_EQ(result.driver, "CUDA 13.0");
  EXPECT_EQ(result.worker, "beta");
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].times.at(0).shape_id, "search/0");
  EXPECT_EQ(result.rows[0].times.at(0).median_ns, 1250);
  EXPECT_EQ(result.rows[0].races.at(0).bounds.low, 1.25);
  EXPECT_EQ(result.rows[1].rank, 0);
  EXPECT_EQ(result.rows[1].verdict, tasks::Verdict::Wrong);
  EXPECT_EQ(result.rows[1].detail, "right in earlier runs, wrong in the final");
}

TEST(Sittings, FinalistsAreTheFirstOfBothOrdersAndTheirEquals) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(1)});
  t.add("b", "two", {correct_evaluation(2)});
  t.add("c", "three", {correct_evaluation(3)});
  tasks::Evaluation equal = correct_evaluation(1.5);
  equal.race = tasks::RaceResult{kernel_of("three"), "undecided", 0.9, {0.8, 1.1}, 9};
  t.add("d", "four", {equal});
  tasks::Evaluation given = correct_evaluation(8);
  given.unranked = "its seed was given";
  t.add("e", "five", {given});
  const auto top = [&](std::int64_t count) {
    std::vector<RowId> candidates;
    for (const auto& row :
         t.store.finalists(sample_task(), "Test CPU, 2 cores", kEvaluator, count, t.run)) {
      candidates.push_back(row.candidate_id);
    }
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  };
  EXPECT_THAT(top(1), ElementsAre(3, 4));
  EXPECT_THAT(top(2), ElementsAre(2, 3, 4));
  EXPECT_THAT(top(0), ElementsAre(1, 2, 3, 4));
  t.store.add_sitting(t.run, t.task, sitting({placed("one", 1, 9), placed("three", 2, 3)}));
  EXPECT_THAT(top(1), ElementsAre(1, 3, 4)) << "who leads the final, and who was measured fastest";
  EXPECT_THAT(t.store.finalists(sample_task(), "Another CPU", kEvaluator, 8, t.run), IsEmpty());
}

TEST(Sittings, AKernelWhoseRaceWasGivenUpIsAFinalistIfItWasClose) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(3)});
  for (const double ratio : {0.97, 0.6}) {
    tasks::Evaluation lost = correct_evaluation(2);
    lost.race = tasks::RaceResult{kernel_of("one"), "not shown to be faster", ratio, {0.3, 1.2}, 9};
    t.add(std::to_string(ratio), std::to_string(ratio), {lost});
  }
  std::vector<RowId> candidates;
  for (const auto& row :
       t.store.finalists(sample_task(), "Test CPU, 2 cores", kEvaluator, 1, t.run)) {
    candidates.push_back(row.candidate_id);
  }
  EXPECT_THAT(candidates, ::testing::UnorderedElementsAre(1, 2));
}

TEST(Sittings, TheNewestRaceOfTwoKernelsCounts) {
  TestStore t;
  t.add("a", "one", {correct_evaluation(1)});
  tasks::Evaluation raced = correct_evaluation(2);
  raced.race = tasks::RaceResult{kernel_of("one"), "faster", 2, {1.5, 2.5}, 9};
  t.add("b", "two", {raced});
  const char* query = "SELECT verdict, ratio, ratio_low, ratio_high, sitting_id FROM races "
                      "WHERE kernel = (SELECT kernel FROM leaderboard WHERE candidate_id = 2) "
                      "OR rival = (SELECT kernel FROM leaderboard WHERE candidate_id = 2)";
  EXPECT_THAT(query_file(t.path, query), ElementsAre("faster|2.0|1.5|2.5|"));
  tasks::SittingRow one = placed("one", 1, 3), two = placed("two", 2, 2);
  one.races = {{kernel_of("two"), "faster", 1.5, {1.25, 1.75}, 5}};
  two.races = {{kernel_of("one"), "slower", 0.75, {0.5, 0.875}, 5}};
  t.store.add_sitting(t.run, t.task, sitting({one, two}));
  const auto races = query_file(t.path, query);
  ASSERT_EQ(races.size(), 1U);
  EXPECT_THAT(races[0], ::testing::EndsWith("|1"));
}

TEST(Sittings, KnowHowMuchTheBaselineMoves) {
  TestStore t;
  EXPECT_EQ(t.store.baseline_spread(t.task, "Test CPU, 2 cores", kEvaluator), 0);
  int index = 0;
  for (const double ns : {100.0, 200.0, 400.0}) {
    tasks::Evaluation evaluation = correct_evaluation(2);
    evaluation.cases[0].baseline_median_ns = ns;
    t.add(std::to_string(index), std::to_string(index), {evaluation});
    ++index;
  }
  EXPECT_NEAR(t.store.baseline_spread(t.task, "Test CPU, 2 cores", kEvaluator), std::log(2), 1e-9);
}

} // namespace
} // namespace winnow::store
