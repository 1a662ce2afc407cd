#include "store/board_facts.h"
#include "store/suite_calls.h"
#include "store/test_store.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;

struct TimedStore : testing::TestStore {
  static tasks::Evaluation taking(double seconds, double speedup = 1) {
    tasks::Evaluation evaluation = correct_evaluation(speedup);
    evaluation.seconds = seconds;
    return evaluation;
  }
  RowId reply(const std::string& key, const tasks::Evaluation& evaluation) {
    const RowId call = store.begin_call(run, task, key, "replay", "m", {{"messages", {}}});
    ModelCallRow outcome;
    outcome.status = "ok";
    store.finish_call(call, outcome);
    return add(key, "// " + key, {evaluation});
  }
  double seconds() const {
    double all = 0;
    for (const auto& [task, of_task] : device_seconds_of_tasks(store, run)) {
      all += of_task;
    }
    return all;
  }
};

TEST(DeviceSeconds, AreThoseOfAllThatTheRunHasJudged) {
  TimedStore t;
  t.add("", "// the baseline", {t.taking(8)});
  const RowId candidate = t.reply("axpy/0/0", t.taking(3));
  EXPECT_DOUBLE_EQ(t.seconds(), 11);
  t.store.add_trials(candidate, {t.taking(0.5), t.taking(0.25)}, "", 0);
  EXPECT_DOUBLE_EQ(t.seconds(), 11.75);
}

TEST(DeviceSeconds, OfAKernelThatTheRunJudgesAgainCount) {
  TimedStore t;
  const RowId candidate = t.reply("axpy/0/0", t.taking(3));
  t.store.supersede_evaluation(candidate, t.taking(2), "the run's request");
  EXPECT_DOUBLE_EQ(t.seconds(), 5);
}

TEST(DeviceSeconds, OfWhatSomebodyAsksForLaterDoNotCount) {
  TimedStore t;
  const RowId candidate = t.reply("axpy/0/0", t.taking(3));
  t.store.supersede_evaluation(candidate, t.taking(100));
  t.store.add_measurement(candidate, t.taking(1000), "profile");
  EXPECT_DOUBLE_EQ(t.seconds(), 3);
}

TEST(DeviceSeconds, OfTheBoardAreThoseOfTheSuiteIfTheLeaderCameLast) {
  TimedStore t;
  t.add("", "// the baseline", {t.taking(8)});
  t.reply("axpy/0/0", t.taking(3));
  t.reply("axpy/1/0", t.taking(2, 4));
  std::vector<LeaderboardRow> rows = t.store.leaderboard({});
  const BoardFacts facts = board_facts(t.store, {}, rows);
  EXPECT_DOUBLE_EQ(facts.summaries.at(0).cost->device_seconds, t.seconds());
  EXPECT_DOUBLE_EQ(t.seconds(), 13);
}

} // namespace
} // namespace winnow::store
