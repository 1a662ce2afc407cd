#include "store/database.h"
#include "store/judge_requests.h"
#include "store/test_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TestStore;

struct JudgeRequestsTest : ::testing::Test {
  TestStore t;
  JudgeRequests requests{t.store};

  RowId add_job(const std::string& job) {
    const RowId candidate = t.add(job, "text of " + job, {});
    requests.add_job({job, candidate, "{}"});
    return candidate;
  }
  void add_item(const std::string& batch, int position, const std::string& job,
                const std::string& owner = "ann") {
    requests.add_item({batch, position, batch + std::to_string(position), job, owner, "log"});
  }
  void change(const std::string& sql) {
    t.store.transaction(
        [&] { t.store.read([&](const Database& database) { Query(database, sql).run(); }); });
  }
  std::vector<std::string> ids(const std::string& batch, std::int64_t after = 0) {
    std::vector<std::string> found;
    for (const JudgeItemRow& row : requests.answered(batch, after, 100)) {
      found.push_back(row.item);
    }
    return found;
  }
};

TEST_F(JudgeRequestsTest, GivesAnswersTheirPlacesInOrder) {
  add_job("one");
  add_job("two");
  add_item("b", 0, "one");
  add_item("b", 1, "two");
  add_item("b", 2, "one");
  EXPECT_THAT(requests.answer("two", ""), ElementsAre("b"));
  EXPECT_THAT(ids("b"), ElementsAre("b1"));
  EXPECT_THAT(requests.answer("one", ""), ElementsAre("b"));
  EXPECT_THAT(ids("b"), ElementsAre("b1", "b0", "b2"));
  EXPECT_THAT(ids("b", 2), ElementsAre("b2"));
  EXPECT_EQ(requests.batch("b", "ann")->answered, 3);
  EXPECT_THAT(requests.answer("one", "a late fault"), IsEmpty()); // no answer changes
  EXPECT_EQ(requests.answered("b", 0, 100)[1].fault, "");
}

TEST_F(JudgeRequestsTest, KeepWhatARequestSaysAboutItsItems) {
  add_job("one");
  add_item("a", 0, "one");
  add_item("b", 0, "one");
  requests.add_batch({"a", -3});
  requests.add_batch({"b", 4, R"({"step":1})", "digest", 17});
  ASSERT_EQ(requests.pending_jobs(t.run).size(), 1U);
  EXPECT_EQ(requests.pending_jobs(t.run)[0].priority, 4);
  EXPECT_EQ(requests.batch("a", "ann")->metadata, "");
  EXPECT_EQ(requests.batch("b", "ann")->metadata, R"({"step":1})");
  EXPECT_EQ(requests.seed_of("digest"), 17);
  EXPECT_EQ(requests.seed_of("another"), std::nullopt);
}

TEST_F(JudgeRequestsTest, TellHowLongAnItemWaited) {
  const RowId candidate = add_job("one");
  add_item("a", 0, "one");
  JudgeItemRow known{"b", 0, "b0", "one", "ann", "log"};
  known.cached = true;
  requests.add_item(known);
  change("UPDATE judge_items SET asked_at = '2000-01-01T00:00:00.000Z'");
  tasks::Evaluation evaluation = correct_evaluation(2);
  evaluation.seconds = 3600;
  t.store.add_evaluations(candidate, {evaluation});
  requests.answer("one", "");
  change("UPDATE judge_items SET answered_at = '2000-01-01T01:00:01.500Z'");
  const JudgeItemRow row = requests.answered("a", 0, 1).at(0);
  EXPECT_FALSE(row.cached);
  EXPECT_NEAR(row.queued_seconds, 1.5, 1e-3);
  EXPECT_TRUE(requests.answered("b", 0, 1).at(0).cached);
  EXPECT_EQ(requests.answered("b", 0, 1).at(0).queued_seconds, 0);
}

TEST_F(JudgeRequestsTest, PendingJobsAreThoseThatSomebodyWaitsFor) {
  const RowId candidate = add_job("done");
  add_job("faulted");
  add_job("waits");
  add_job("nobody asked");
  for (const char* job : {"done", "faulted", "waits"}) {
    add_item(job, 0, job);
  }
  t.store.add_evaluations(candidate, {correct_evaluation(2)});
  requests.answer("faulted", "infrastructure");
  const std::vector<JudgeJob> pending = requests.pending_jobs(t.run);
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_EQ(pending[0].job, "waits");
  EXPECT_EQ(pending[0].owner, "ann");
  EXPECT_TRUE(requests.find_job("done")->has_evaluation);
  EXPECT_FALSE(requests.find_job("faulted")->has_evaluation);
  EXPECT_FALSE(requests.find_job("unknown"));
  EXPECT_TRUE(requests.pending_jobs(t.run + 1).empty());
}

// An older Winnow took answers back when nobody trusted their worker.
TEST_F(JudgeRequestsTest, AnAnswerThatAnOldStoreHasWithdrawnIsGivenAgain) {
  const RowId candidate = add_job("one");
  add_job("two");
  add_item("b", 0, "two");
  add_item("b", 1, "one");
  t.store.add_evaluations(candidate, {correct_evaluation(2)});
  requests.answer("two", "infrastructure");
  requests.answer("one", "");
  tasks::Evaluation gap = correct_evaluation(0);
  gap.verdict = tasks::Verdict::Infrastructure;
  t.store.supersede_evaluation(candidate, gap, {});
  change("UPDATE judge_items SET withdrawn = 'a worker', withdrawn_place = place, place = NULL "
         "WHERE job = 'one'");
  EXPECT_FALSE(requests.find_job("one")->has_evaluation);
  EXPECT_EQ(requests.batch("b", "ann")->answered, 1);
  ASSERT_EQ(requests.pending_jobs(t.run).size(), 1U);
  EXPECT_EQ(requests.pending_jobs(t.run)[0].job, "one");
  EXPECT_THAT(requests.answer("one", ""), ElementsAre("b"));
  EXPECT_EQ(requests.item_of_job("one", "ann")->place, 3) << "places of a batch only grow";
}

TEST_F(JudgeRequestsTest, ShowsNobodyTheItemsOfAnotherOwner) {
  add_job("one");
  add_item("a", 0, "one", "ann");
  add_item("b", 0, "one", "bob");
  EXPECT_FALSE(requests.batch("a", "bob"));
  EXPECT_FALSE(requests.item_of_job("one", "eve"));
  EXPECT_EQ(requests.item_of_job("one", "bob")->batch, "b");
  EXPECT_THAT(requests.answer("one", "cancelled", "ann"), ElementsAre("a"));
  EXPECT_TRUE(requests.is_waited_for("one"));
  EXPECT_THAT(requests.answer("one", ""), ElementsAre("b"));
  EXPECT_FALSE(requests.is_waited_for("one"));
}

} // namespace
} // namespace winnow::store
