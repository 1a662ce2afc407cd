// The speed of a kernel of a final at held-out shapes, as boards show it.
#include "store/board_facts.h"
#include "store/export.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/result/fitted.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::query_file;
using testing::TestStore;

class HeldOut : public ::testing::Test {
protected:
  HeldOut() { t_.add("a", "one", {correct_evaluation(2)}); }

  void hold_final(double held_out_speedup, const std::vector<tasks::SittingTime>& times) {
    tasks::SittingRow row;
    row.kernel = tasks::kernel_digest("one", correct_evaluation(1).parameters);
    row.verdict = tasks::Verdict::Correct;
    row.rank = 1;
    row.score_ns = 1000;
    row.speedup = 10;
    row.held_out_speedup = held_out_speedup;
    row.times = {{"search/0", 1000, 10'000, 10, true}};
    row.times.insert(row.times.end(), times.begin(), times.end());
    tasks::SittingResult result;
    result.device = "cpu";
    result.device_name = "Test CPU, 2 cores";
    result.evaluator_version = 7; // from correct_evaluation()
    result.rounds = 5;
    result.started_at = "2026-11-21T10:00:00.000Z";
    result.rows = {row};
    t_.store.add_sitting(t_.run, t_.task, result);
  }

  /// Times of the alternative that correct_evaluation() can be compared with.
  void time_alternative(const std::string& shape_id, double median_ns) {
    BaselineTiming timing;
    timing.name = "torch.compile";
    timing.device = "cpu";
    timing.device_name = "Test CPU, 2 cores";
    timing.shape_id = shape_id;
    timing.median_ns = median_ns;
    timing.agrees = true;
    t_.store.add_baseline_timings(t_.task, {timing});
  }

  LeaderboardRow row() const {
    std::vector<LeaderboardRow> rows = t_.store.leaderboard({});
    facts_ = board_facts(t_.store, {}, rows);
    return rows.at(0);
  }

  TestStore t_;
  mutable BoardFacts facts_;
};

TEST_F(HeldOut, IsTheMeanOverTheShapesThatCountWithTheOthersBeside) {
  hold_final(8, {{"held_out/0", 9e5, 2e6, 2.2, false}, {"held_out/1", 1e6, 8e6, 8, true}});
  const LeaderboardRow first = row();
  EXPECT_EQ(first.held_out_speedup, 8);
  EXPECT_EQ(first.held_out_note, "");
  ASSERT_EQ(first.held_out.size(), 2U);
  EXPECT_EQ(first.held_out[0].shape_id, "held_out/0");
  EXPECT_FALSE(first.held_out[0].counts);
  EXPECT_DOUBLE_EQ(first.held_out[0].share, 0.22);
  EXPECT_DOUBLE_EQ(first.held_out[1].share, 0.8);
  EXPECT_EQ(first.fitted, "") << "the small shape does not count";
}

TEST_F(HeldOut, SaysThatNoShapeCounts) {
  hold_final(0, {{"held_out/0", 900, 2000, 2.2, false}});
  EXPECT_EQ(row().held_out_note, "none counts");
  const auto json = leaderboard_json({row()}, {}).at("rows").at(0);
  EXPECT_TRUE(json.at("held_out_speedup").is_null());
  EXPECT_EQ(json.at("held_out").at(0).at("shape"), "held_out/0");
}

// One mean over launches of 2 us and others says nothing, and it cannot be taken apart again.
TEST_F(HeldOut, OfAnOldFinalIsNotKnown) {
  hold_final(6.9, {});
  EXPECT_EQ(row().held_out_speedup, 0);
  EXPECT_EQ(row().held_out_note, "not known");
  EXPECT_EQ(t_.store.sittings().at(0).result.rows.at(0).held_out_speedup, 0);
  const auto kept = query_file(t_.path, "SELECT f.held_out_speedup, b.held_out_speedup IS NULL "
                                        "FROM sitting_rows AS f, leaderboard AS b");
  EXPECT_THAT(kept, ElementsAre("6.9|1"));
}

TEST_F(HeldOut, NamesNoNoteOutsideAFinal) {
  EXPECT_EQ(row().held_out_note, "");
}

TEST_F(HeldOut, MarksWhoIsFittedToTheShownShapes) {
  hold_final(4.9, {{"held_out/0", 1e6, 8e6, 8, true}, {"held_out/1", 1e6, 3e6, 3, true}});
  EXPECT_EQ(row().fitted, tasks::kFitted);
  EXPECT_THAT(summary_json(facts_.summaries.at(0)).dump(),
              HasSubstr("fitted to the shown shapes: at held_out/1 its speed beside baseline.cu is "
                        "0.30 of that at the search shapes"));
}

// Ten launches' worth of time says how a launch begins and ends, not for which shapes it is made.
TEST_F(HeldOut, MarksNobodyForAShapeWhereTheKernelIsShort) {
  hold_final(4.9, {{"held_out/0", 1e6, 8e6, 8, true}, {"held_out/1", 4e5, 1.2e6, 3, true}});
  EXPECT_DOUBLE_EQ(row().held_out[1].share, 0.3);
  EXPECT_EQ(row().fitted, "");
}

TEST_F(HeldOut, ComparesWithTheBestAlternativeWhereItHasATime) {
  hold_final(3, {{"held_out/0", 1e6, 3e6, 3, true}, {"held_out/1", 1e6, 9e6, 9, true}});
  time_alternative("search/0", correct_evaluation(2).cases.at(0).baseline_median_ns / 2);
  const LeaderboardRow before = row();
  EXPECT_EQ(before.best_alternative, "torch.compile");
  EXPECT_DOUBLE_EQ(before.versus_best, 5);
  EXPECT_EQ(before.fitted, tasks::kFitted) << "only the baseline has a time there";
  time_alternative("held_out/0", 4e6);
  const LeaderboardRow after = row();
  EXPECT_DOUBLE_EQ(after.held_out[0].share, 0.8);
  EXPECT_TRUE(after.held_out[0].beside_alternative);
  EXPECT_FALSE(after.held_out[1].beside_alternative);
  EXPECT_EQ(after.fitted, "");
}

} // namespace
} // namespace winnow::store
