#include "base/error.h"
#include "store/candidate_record.h"
#include "store/test_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct CandidateRecords : ::testing::Test, testing::TestStore {};

TEST_F(CandidateRecords, HaveTheCallAndTheDecisionBehindACandidate) {
  const RowId parent = add("axpy/0/0", "a", {testing::correct_evaluation(2)});
  const RowId call = store.begin_call(
      run, task, "axpy/0/1", "replay", "some-model",
      {{"messages",
        {{{"role", "system"}, {"content", "rules"}}, {{"role", "user"}, {"content", "do"}}}}});
  ModelCallRow outcome;
  outcome.status = "ok";
  outcome.text = "here is b";
  outcome.usage.prompt_tokens = 7;
  outcome.usage.completion_tokens = 5;
  store.finish_call(call, outcome);
  const auto decide = [&](const char* key, const char* op) {
    store.append_search_log(
        run, task, "decided",
        nlohmann::json{{"action", {{"ask", key}, {"operator", op}}}, {"asks", 1}}.dump());
  };
  decide("axpy/0/10", "diff");
  decide("axpy/0/1", "crossover");
  CandidateRow row;
  row.call_key = "axpy/0/1";
  row.origin = "model";
  row.text = "b\nb\n";
  row.parent_id = parent;
  const RowId id = store.add_candidate(run, task, row);
  store.add_evaluations(id, {testing::wrong_evaluation()});

  const CandidateRecord record = store.candidate_record(id);
  EXPECT_EQ(record.run_name, "first");
  EXPECT_EQ(record.op, "crossover");
  EXPECT_THAT(record.parents, ElementsAre(parent));
  EXPECT_EQ(record.lines, 2);
  EXPECT_EQ(record.state.reply, "here is b");
  EXPECT_EQ(record.completion_tokens, 5);
  ASSERT_EQ(record.messages.size(), 2U);
  EXPECT_EQ(record.messages[1].role, "user");
  EXPECT_EQ(record.messages[1].text, "do");
  EXPECT_EQ(record.state.best->verdict, tasks::Verdict::Wrong);
  EXPECT_FALSE(record.final);
}

TEST_F(CandidateRecords, HaveTheFactsOfTheirDevice) {
  CandidateRow row;
  row.origin = "person";
  row.text = "p";
  EXPECT_THAT(store.candidate_record(store.add_candidate(run, task, row)).device_facts, IsEmpty());
  const RowId later = store.create_run("later", {}, {{"device", {{"facts", {{"sm_count", 132}}}}}});
  const CandidateRecord record = store.candidate_record(store.add_candidate(later, task, row));
  EXPECT_EQ(record.device_facts.at("sm_count"), 132);
}

TEST_F(CandidateRecords, OfAPersonHaveNoCall) {
  CandidateRow row;
  row.origin = "person";
  row.text = "p";
  const CandidateRecord record = store.candidate_record(store.add_candidate(run, task, row));
  EXPECT_EQ(record.op, "");
  EXPECT_THAT(record.messages, IsEmpty());
  EXPECT_THAT(record.parents, IsEmpty());
  EXPECT_FALSE(record.state.best);
  EXPECT_THROW(store.candidate_record(99), UsageError);
}

TEST_F(CandidateRecords, CanBeReadWithoutSamplesAndAreEqualOtherwise) {
  const RowId candidate = add("axpy/0/0", "a", {testing::correct_evaluation(2)});
  CandidateState whole = store.candidate_state(candidate);
  const CandidateState lean = candidate_without_samples(store, candidate);
  bool any_samples = false;
  for (tasks::CaseResult& result : whole.best.value().cases) {
    for (auto* samples : {&result.samples_ns, &result.baseline_samples_ns,
                          &result.incumbent_samples_ns, &result.warm_samples_ns}) {
      any_samples = any_samples || !samples->empty();
      samples->clear();
    }
  }
  EXPECT_TRUE(any_samples);
  EXPECT_EQ(evaluation_json(lean.best.value()), evaluation_json(*whole.best));
  EXPECT_EQ(lean.row.text, "a");
  EXPECT_EQ(lean.reply, whole.reply);
  const RowId unjudged = add("axpy/0/1", "b", {});
  EXPECT_FALSE(candidate_without_samples(store, unjudged).best.has_value());
}

} // namespace
} // namespace winnow::store
