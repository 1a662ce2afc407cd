#include "store/declared_runs.h"
#include "store/judge_requests.h"
#include "store/test_store.h"
#include "store/training/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using testing::TestStore;

struct DeclaredRunsTest : ::testing::Test {
  TestStore t;
  DeclaredRuns runs{t.store, t.run};
  RowId run = runs.add({0, "ann", "evo"}, "ann/evo", {{"kind", "external"}});

  RowId reply(const std::string& key, const std::string& kernel) {
    DeclaredReply stated{run, t.task, key};
    stated.model = "m";
    stated.kernel = kernel;
    const auto known = runs.find_reply(stated);
    return known ? *known : runs.add_reply(stated);
  }
};

TEST_F(DeclaredRunsTest, AreFoundByTheirOwnerAndTheirStoredName) {
  EXPECT_EQ(runs.find("ann", "evo").value().run_id, run);
  EXPECT_EQ(runs.find_stored("ann/evo").value().row.status, "running");
  EXPECT_FALSE(runs.find("bob", "evo"));
  EXPECT_FALSE(DeclaredRuns(t.store, run).find("ann", "evo")) << "of another server";
  EXPECT_THROW(runs.add({0, "bob", "x"}, "ann/evo", {}), UsageError);
  EXPECT_EQ(runs.count("ann"), 1);
  EXPECT_EQ(runs.count("bob"), 0);
}

TEST_F(DeclaredRunsTest, CallsOfOneKernelShareItsEvaluation) {
  const RowId first = reply("1", "same"), second = reply("12", "same");
  EXPECT_NE(first, second);
  EXPECT_EQ(reply("1", "same"), first);
  EXPECT_THROW(reply("1", "other"), UsageError);
  EXPECT_EQ(runs.next_call(run), 13);
  JudgeRequests(t.store).add_job({"job", first, "{}"});
  runs.link(first, "job");
  runs.link(second, "job");
  runs.take_over("other job");
  EXPECT_FALSE(t.store.candidate_state(second).best);
  t.store.add_evaluations(first, {correct_evaluation(2)}, "request");
  runs.take_over("job");
  runs.take_over("job");
  const CandidateState one = t.store.candidate_state(first), two = t.store.candidate_state(second);
  EXPECT_EQ(two.best.value().speedup, 2);
  EXPECT_EQ(two.best->cases.size(), one.best.value().cases.size());
  EXPECT_EQ(two.best->cases.front().samples_ns, one.best->cases.front().samples_ns);
  EXPECT_EQ(t.store.events(run).size(), 2U);
  const std::vector<DeclaredTask> tasks = runs.tasks(run);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].calls, 2);
  EXPECT_EQ(tasks[0].correct, 2);
  EXPECT_EQ(tasks[0].unjudged, 0);
  EXPECT_EQ(tasks[0].speedup, 2);
}

TEST_F(DeclaredRunsTest, TeachNothing) {
  const RowId candidate = reply("1", "kernel");
  const auto lines = [&] {
    std::size_t count = 0;
    write_training(t.store,
                   {.split =
                        [](std::string_view text) {
                          return TrainingReply{"", std::string(text)};
                        }},
                   [&](std::string_view /*line*/) { ++count; });
    return count;
  };
  t.store.add_evaluations(candidate, {correct_evaluation(3)});
  EXPECT_EQ(lines(), 1U);
  JudgeRequests(t.store).add_job({"job", candidate, "{}"});
  runs.link(candidate, "job");
  EXPECT_EQ(lines(), 0U) << "nobody has told what was asked";
}

TEST_F(DeclaredRunsTest, ACandidateKeepsItsEvaluation) {
  const RowId candidate = reply("1", "kernel"),
              judged = t.add("x", "kernel", {correct_evaluation(3)});
  JudgeRequests requests(t.store);
  requests.add_job({"lost", candidate, "{}"});
  requests.add_job({"again", judged, "{}"});
  EXPECT_FALSE(runs.has_job(candidate));
  runs.link(candidate, "lost");
  EXPECT_TRUE(runs.has_job(candidate));
  runs.link(candidate, "again"); // the first job met a fault
  runs.take_over("again");
  EXPECT_EQ(t.store.candidate_state(candidate).best.value().speedup, 3);
  runs.link(candidate, "lost");
  runs.take_over("lost");
  EXPECT_EQ(t.store.events(run).size(), 1U);
}

} // namespace
} // namespace winnow::store
