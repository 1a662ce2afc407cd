#include "store/suite_calls.h"
#include "store/test_store.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using testing::TestStore;

struct CallStore : TestStore {
  void reply(const std::string& key, const tasks::Evaluation& evaluation) {
    const RowId call = store.begin_call(run, task, key, "replay", "m", {{"messages", {}}});
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.usage.prompt_tokens = 7;
    outcome.dollars = 0.5;
    store.finish_call(call, outcome);
    add(key, "// " + key, {evaluation});
  }
};

TEST(SuiteCalls, HaveTheEvaluationThatCountsAndTheCost) {
  CallStore t;
  t.reply("axpy/0/0", correct_evaluation(1.5));
  t.store.begin_call(t.run, t.task, "axpy/1/0", "replay", "m", {{"messages", {}}});
  const std::vector<SuiteCall> calls = suite_calls(t.store, t.run);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_TRUE(calls[0].is_answered);
  EXPECT_TRUE(calls[0].is_made);
  EXPECT_FALSE(calls[1].is_made);
  EXPECT_EQ(t.store.run_costs(t.run).calls, 1) << "the calls of a run are those that were made";
  EXPECT_EQ(calls[0].task, "axpy");
  EXPECT_EQ(calls[0].verdict, tasks::Verdict::Correct);
  EXPECT_EQ(calls[0].stage, correct_evaluation(1.5).stage);
  EXPECT_EQ(calls[0].speedup, 1.5);
  EXPECT_EQ(calls[0].prompt_tokens, 7);
  EXPECT_FALSE(calls[0].tokens_unknown);
  EXPECT_EQ(calls[0].dollars, 0.5);
  EXPECT_EQ(calls[0].speedup_versus_compiled, 0) << "no times of torch.compile are stored";
  EXPECT_FALSE(calls[1].is_answered);
  EXPECT_EQ(calls[0].digest.size(), 64U);
  EXPECT_EQ(calls[1].candidate, 0);
  EXPECT_EQ(calls[1].digest, "");
}

TEST(SuiteCalls, OfARoleCostMoneyAndAreNoReplies) {
  CallStore t;
  const RowId call =
      t.store.begin_call(t.run, t.task, "axpy/judge/0", "replay", "m", {{"messages", {}}});
  ModelCallRow outcome;
  outcome.status = "ok";
  outcome.dollars = 0.25;
  t.store.finish_call(call, outcome);
  AdviceRow advice;
  advice.key = "axpy/judge/0";
  advice.role = "judge";
  advice.content = "{}";
  t.store.add_advice(t.run, advice);
  const std::vector<SuiteCall> calls = suite_calls(t.store, t.run);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_TRUE(calls[0].tokens_unknown) << "the outcome tells none";
  EXPECT_FALSE(calls[0].is_answered);
  EXPECT_TRUE(calls[0].is_made);
  EXPECT_EQ(calls[0].dollars, 0.25);
}

TEST(SuiteCalls, AreComparedWithTheNewestTimesOfAlternatives) {
  CallStore t;
  const tasks::Evaluation evaluation = correct_evaluation(1.5);
  t.reply("axpy/0/0", evaluation);
  std::vector<BaselineTiming> timings;
  double kernel_ns = 0;
  for (const tasks::CaseResult& one : evaluation.cases) {
    if (one.set == tasks::ShapeSet::Search && one.median_ns > 0) {
      BaselineTiming& timing = timings.emplace_back();
      timing.name = "torch.compile";
      timing.device_name = evaluation.device_name;
      timing.shape_id = one.shape_id;
      timing.median_ns = 99 * one.median_ns;
      kernel_ns = one.median_ns;
    }
  }
  ASSERT_EQ(timings.size(), 1U);
  t.store.add_baseline_timings(t.task, timings);
  timings[0].median_ns = 3 * kernel_ns;
  t.store.add_baseline_timings(t.task, timings);
  EXPECT_DOUBLE_EQ(suite_calls(t.store, t.run).at(0).speedup_versus_compiled, 3);
  timings[0].name = "cuDNN";
  timings[0].median_ns = 0.5 * kernel_ns;
  t.store.add_baseline_timings(t.task, timings);
  timings[0].name = "wrong";
  timings[0].median_ns = 0.1 * kernel_ns;
  timings[0].agrees = false;
  t.store.add_baseline_timings(t.task, timings);
  const SuiteCall call = suite_calls(t.store, t.run).at(0);
  EXPECT_DOUBLE_EQ(call.speedup_versus_compiled, 3);
  EXPECT_DOUBLE_EQ(call.speedup_versus_best, 0.5) << "the kernel is slower than what cuDNN takes";
  EXPECT_EQ(call.best_alternative, "cuDNN");
  timings[0].name = "torch.compile";
  t.store.add_baseline_timings(t.task, timings);
  EXPECT_EQ(suite_calls(t.store, t.run).at(0).speedup_versus_compiled, 0);
}

} // namespace
} // namespace winnow::store
