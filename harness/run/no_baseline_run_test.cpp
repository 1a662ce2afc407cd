// Runs of tasks without a baseline.cu, whose speedups are against PyTorch eager.
#include "base/digest.h"
#include "base/error.h"
#include "harness/run/prompts/seed_kernel.h"
#include "harness/run/testing/run_loop_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using agents::ModelReply;
using agents::ModelRequest;
using test::ScriptedModel;
using testing::HasSubstr;
using testing::Not;
using End = RunOutcome::End;

ModelReply reply_to(const ModelRequest& request) {
  static const std::vector<std::string> kReplies{
      test::reply_text("wrong", 0),        test::reply_text("compile_error", 0),
      test::reply_text("correct", 0.7),    "I cannot do that.",
      test::family_reply_text(1.5, 1.2),   test::reply_text("correct", 1.2),
      test::reply_text("correct", 3, 0.5), test::reply_text("correct", 2.5)};
  const auto step = std::stoul(request.key.substr(request.key.rfind('/') + 1));
  return test::ok_reply(kReplies.at(std::min<std::size_t>(step, kReplies.size() - 1)));
}

class NoBaselineRunTest : public test::RunLoopTest {
protected:
  NoBaselineRunTest() {
    config_.proposals = 8;
    config_.seeds = 2;
    config_.endpoint.parallel = 1;
    for (tasks::Task& task : tasks_) {
      task.torch = tasks::TorchReference{};
      task.baseline.clear();
    }
  }

  RunOutcome run() {
    ScriptedModel endpoint(reply_to);
    return session(endpoint);
  }

  std::vector<search::Ask> asks_of_first_task() const {
    const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
    std::vector<search::Ask> asks;
    for (store::SearchLogRow& row : store.search_log(store.find_run(run_name_)->id, 1)) {
      const search::Event event = search::event_of({std::move(row.kind), std::move(row.detail)});
      if (const auto* decided = std::get_if<search::Decided>(&event)) {
        if (const auto* ask = std::get_if<search::Ask>(&decided->action)) {
          asks.push_back(*ask);
        }
      }
    }
    return asks;
  }

  /// A run that is stopped after a write goes on as its log says. The end of one lineage is the
  /// same as without the stop. In an archive, evaluations and calls overtake one another.
  void expect_a_good_end_after_crashes(std::int64_t stride) {
    std::int64_t writes = 0;
    {
      ScriptedModel endpoint(reply_to);
      ASSERT_EQ(session(endpoint, [&] { ++writes; }).end, End::Finished);
    }
    const std::string expected = account();
    const std::set<std::string> keys = recorded_keys();
    for (std::int64_t crash_at = 1; crash_at < writes; crash_at += stride) {
      forget();
      {
        ScriptedModel endpoint(reply_to);
        crash_after(crash_at, endpoint);
      }
      ASSERT_EQ(run().end, End::Finished) << "after write " << crash_at;
      if (config_.strategy != "archive") {
        ASSERT_EQ(account(), expected) << "after write " << crash_at;
      }
      ASSERT_EQ(recorded_keys(), keys) << "after write " << crash_at;
      ASSERT_GE(recompute_decisions(), 2 * config_.proposals);
    }
  }
};

TEST_F(NoBaselineRunTest, AsksAtOnceAndStoresNoBaseline) {
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.end, End::Finished) << outcome.message;
  EXPECT_EQ(outcome.spend.calls, 16);
  EXPECT_THAT(said_, Not(HasSubstr("baseline")));
  EXPECT_THAT(said_, HasSubstr("a/0/2 correct 1.429 us 0.70x (best 0.70x)"));
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const auto candidates = store.candidates(1);
  EXPECT_EQ(candidates.size(), 16U);
  for (const store::CandidateState& candidate : candidates) {
    EXPECT_EQ(candidate.row.origin, "model");
  }
  const std::vector<search::Ask> asks = asks_of_first_task();
  ASSERT_EQ(asks.size(), 8U);
  EXPECT_EQ(asks[0].op, "seed");
  EXPECT_TRUE(asks[0].parents.empty());
  EXPECT_GT(recompute_decisions(), 16);
}

TEST_F(NoBaselineRunTest, AFinishedRunAsksNothingMore) {
  run();
  const std::string before = account();
  ScriptedModel again(reply_to);
  EXPECT_TRUE(session(again).was_finished);
  EXPECT_TRUE(again.asked().empty());
  EXPECT_EQ(account(), before);
}

TEST_F(NoBaselineRunTest, ALineageResumesToTheSameEnd) {
  expect_a_good_end_after_crashes(17);
}

TEST_F(NoBaselineRunTest, AnArchiveResumes) {
  config_.strategy = "archive";
  tasks_.resize(1);
  expect_a_good_end_after_crashes(5);
}

TEST_F(NoBaselineRunTest, StartsFromTheKernelThatTheUserGives) {
  config_.strategy = "archive";
  tasks_.resize(1);
  config_.seed_kernels = {(directory_.path() / "mine.cu").string()};
  write_file_atomic(config_.seed_kernels.front(), test::kernel_text("correct", 1.1));
  EXPECT_EQ(run().end, End::Finished);
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadOnly);
  const auto candidates = store.candidates(1);
  ASSERT_EQ(candidates.size(), 9U);
  EXPECT_EQ(candidates.front().row.origin, "person");
  EXPECT_EQ(candidates[1].row.parent_id, candidates.front().row.id);
  EXPECT_THAT(said_, HasSubstr("a/" + run_name_ + " correct"));
  EXPECT_THAT(said_, Not(HasSubstr("baseline")));
  EXPECT_GT(recompute_decisions(), 8);
  forget();
  expect_a_good_end_after_crashes(9);
}

TEST_F(NoBaselineRunTest, StartsFromAKernelOfTheStore) {
  config_.strategy = "archive";
  tasks_.resize(1);
  const std::string mine = test::kernel_text("correct", 1.1);
  {
    store::RunStore store(store_path(), store::RunStore::Mode::ReadWrite);
    const store::RowId person =
        store.create_run("person", {{"kind", "person"}}, nlohmann::json::object());
    store::CandidateRow row;
    row.origin = "person";
    row.text = mine;
    EXPECT_EQ(store.add_candidate(person, store.add_task(tasks_.front()), row), 1);
    EXPECT_EQ(lasting_seed("@" + sha256_hex(mine).substr(0, 8), store, tasks_.front().name), "@1");
    EXPECT_EQ(lasting_seed("mine.cu", store, tasks_.front().name), "mine.cu");
    EXPECT_THROW(seed_text("@7", store, tasks_.front().name), UsageError);
    EXPECT_THROW(seed_text("@1", store, "another"), UsageError);
    EXPECT_THROW(lasting_seed("@1", store, "another"), UsageError);
  }
  config_.seed_kernels = {"@1"};
  EXPECT_EQ(run().end, End::Finished);
  EXPECT_THAT(said_, HasSubstr("a/" + run_name_ + " correct"));
}

TEST_F(NoBaselineRunTest, AFileWithoutAPlanIsRefusedBeforeTheRun) {
  const store::RunStore store(store_path(), store::RunStore::Mode::ReadWrite);
  const std::string seed = (directory_.path() / "mine.cu").string();
  write_file_atomic(seed, "__global__ void f(float* x) { x[0] = 1; }\n");
  try {
    checked_seed_text(seed, store, tasks_.front());
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("run.seed_kernel: mine.cu:1:1: the file has no launch plan"));
    EXPECT_THAT(error.remedy(), HasSubstr("`winnow tasks template a FILE` writes one"));
  }
  const std::string whole = R"(/*@winnow {"launches": [{"kernel": "f", "grid": [1], "block": [1],
    "args": ["x"]}]} @*/
__global__ void f(float* x) { x[0] = 1; }
)";
  write_file_atomic(seed, whole);
  EXPECT_EQ(checked_seed_text(seed, store, tasks_.front()), whole);
}

TEST_F(NoBaselineRunTest, TasksOfBothKindsShareARun) {
  tasks_[1] = test::small_task("b");
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.end, End::Finished) << outcome.message;
  EXPECT_THAT(account(), HasSubstr("b: baseline parent"));
  EXPECT_GT(recompute_decisions(), 16);
}

} // namespace
} // namespace winnow::harness
