#include "store/test_store.h"
#include "store/worker_evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::store {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

tasks::Evaluation evaluation_by(const std::string& worker) {
  tasks::Evaluation made = testing::correct_evaluation(2);
  made.worker = worker;
  return made;
}

TEST(WorkerEvaluations, AreThoseThatCountInTheRun) {
  testing::TestStore t;
  const RowId first = t.add("axpy/0/0", "first", {evaluation_by("a")});
  t.add("axpy/0/1", "second", {evaluation_by("b")});
  const auto of_a = evaluations_of_worker(t.store, t.run, "a");
  ASSERT_THAT(of_a, SizeIs(1));
  EXPECT_EQ(of_a.front().candidate, first);
  EXPECT_EQ(of_a.front().task, t.task);
  EXPECT_EQ(of_a.front().parameters, evaluation_by("a").parameters);
  EXPECT_THAT(evaluations_of_worker(t.store, t.run + 1, "a"), IsEmpty());
  EXPECT_THAT(evaluations_of_worker(t.store, t.run, "nobody"), IsEmpty());

  tasks::Evaluation gap;
  gap.verdict = tasks::Verdict::Infrastructure;
  gap.device = "cpu";
  EXPECT_THAT(withdraw_evaluations(t.store, t.run, "nobody", gap), IsEmpty());
  EXPECT_THAT(withdraw_evaluations(t.store, t.run, "a", gap), SizeIs(1));
  EXPECT_THAT(evaluations_of_worker(t.store, t.run, "a"), IsEmpty());
  ASSERT_THAT(unjudged_evaluations(t.store, t.run), SizeIs(1));
  EXPECT_EQ(unjudged_evaluations(t.store, t.run).front().candidate, first);
  EXPECT_EQ(unjudged_evaluations(t.store, t.run).front().parameters, evaluation_by("a").parameters);
  EXPECT_THAT(t.store.leaderboard({}), SizeIs(1)) << "the withdrawn one is on no board";

  t.store.supersede_evaluation(first, evaluation_by("b"));
  EXPECT_THAT(unjudged_evaluations(t.store, t.run), IsEmpty());
  EXPECT_THAT(evaluations_of_worker(t.store, t.run, "b"), SizeIs(2));
}

} // namespace
} // namespace winnow::store
