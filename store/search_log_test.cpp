#include "store/test_store.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using testing::TestStore;

TEST(SearchLog, NumbersTheEventsOfEachRunAndTask) {
  TestStore t;
  tasks::Task other = testing::sample_task("other");
  const RowId other_task = t.store.add_task(other);
  t.store.append_search_log(t.run, t.task, "added", R"({"candidate":1})");
  t.store.append_search_log(t.run, other_task, "resumed", "{}");
  t.store.append_search_log(t.run, t.task, "faulted", R"({"candidate":1})");
  const std::vector<SearchLogRow> rows = t.store.search_log(t.run, t.task);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].seq, 1);
  EXPECT_EQ(rows[1].seq, 2);
  EXPECT_EQ(rows[1].kind, "faulted");
  EXPECT_EQ(rows[1].detail, R"({"candidate":1})");
  EXPECT_EQ(t.store.search_log(t.run, other_task).size(), 1U);
}

TEST(SearchLog, ATransactionKeepsAllOfItsWritesOrNone) {
  TestStore t;
  const auto write = [&] {
    const RowId candidate = t.add("a", "1", {correct_evaluation(2)});
    t.store.append_search_log(t.run, t.task, "added",
                              nlohmann::json{{"candidate", candidate}}.dump());
  };
  EXPECT_THROW(t.store.transaction([&] {
    write();
    throw std::runtime_error("killed here");
  }),
               std::runtime_error);
  EXPECT_TRUE(t.store.candidates(t.run).empty());
  EXPECT_TRUE(t.store.search_log(t.run, t.task).empty());
  t.store.transaction(write);
  ASSERT_EQ(t.store.candidates(t.run).size(), 1U);
  EXPECT_EQ(t.store.search_log(t.run, t.task).size(), 1U);
  const RowId candidate = t.store.candidates(t.run).front().row.id;
  const CandidateState state = t.store.candidate_state(candidate);
  EXPECT_EQ(state.row.id, candidate);
  ASSERT_TRUE(state.best);
  EXPECT_EQ(state.best->speedup, 2);
  EXPECT_FALSE(state.best->cases.empty());
}

TEST(SearchLog, AHookRunsAfterEachWriteAndCanUndoATransaction) {
  TestStore t;
  int writes = 0;
  t.store.after_each_write([&] {
    if (++writes == 3) {
      throw std::runtime_error("killed here");
    }
  });
  const auto write = [&] { t.store.add_event(t.run, "goes on", {}); };
  const std::size_t before = t.store.events(t.run).size();
  write();
  EXPECT_EQ(writes, 1) << "reading is no write";
  EXPECT_THROW(t.store.transaction([&] {
    write();
    write();
  }),
               std::runtime_error);
  EXPECT_EQ(t.store.events(t.run).size(), before + 1);
}

} // namespace
} // namespace winnow::store
