#include "lab/replay.h"
#include "lab/testing/landscape_fake.h"

#include <algorithm>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::lab {
namespace {

using testing::HasSubstr;

RecordedSearch recorded(const std::string& strategy, std::uint64_t seed, std::size_t lineages = 1) {
  SessionPlan plan{{16, 0, 0}, {4, 2}, {}, true};
  plan.settings.lineages = lineages;
  RecordedSearch search;
  search.policy = search::preset(strategy).policy;
  SessionResult result = simulate(usual_landscape(), search.policy, plan, seed);
  search.events = std::move(result.events);
  search.settings = std::move(result.settings);
  return search;
}

TEST(Replay, OfALogByItsOwnPolicyReplaysAllCalls) {
  for (const search::Preset& preset : search::presets()) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const RecordedSearch log = recorded(preset.name, seed);
      const Replay own = replay(log, preset.policy);
      EXPECT_EQ(own.replayed, own.recorded) << preset.name << " " << seed << own.why_stopped;
      EXPECT_GE(own.recorded, 1U);
      EXPECT_EQ(own.why_stopped, "");
    }
  }
}

TEST(Replay, OfSeveralLineagesReplaysAllCalls) {
  const RecordedSearch log = recorded("one-plus-one", 3, 4);
  EXPECT_EQ(replay(log, log.policy).replayed, 16U);
}

TEST(Replay, StopsWhereTheLogDoesNotAnswer) {
  const RecordedSearch log = recorded("one-plus-one", 1);
  const Replay other = replay(log, search::preset("archive").policy);
  EXPECT_EQ(other.recorded, 16U);
  EXPECT_LT(other.replayed, 16U);
  EXPECT_THAT(other.why_stopped, HasSubstr("no reply is left to the call 'seed' of candidate 1"));
  // Each call of best-of-n builds on the baseline; the lineage did so once or more.
  const Replay shared = replay(log, search::preset("best-of-n").policy);
  EXPECT_GE(shared.replayed, 1U);
  EXPECT_LT(shared.replayed, 16U);
}

TEST(Replay, TakesVerdictsWithoutAnEvaluation) {
  // A reply without a kernel file gets its verdict when it is added.
  RecordedSearch log;
  log.settings = {.task = "task", .proposals = 2, .has_baseline = false};
  log.policy = search::preset("one-plus-one").policy;
  search::Ask first, second;
  first.key = "task/0/0";
  first.op = "seed";
  second.key = "task/0/1";
  second.parents = {1};
  search::Outcome bad;
  bad.verdict = tasks::Verdict::BadReply;
  log.events = {search::Decided{first, {1}},     search::Added{1, first.key, 0},
                search::Evaluated{1, bad},       search::Decided{second, {1}},
                search::Added{2, second.key, 0}, search::Evaluated{2, bad}};
  const Replay own = replay(log, log.policy);
  EXPECT_EQ(own.replayed, 2U);
  EXPECT_EQ(own.why_stopped, "");
}

TEST(Replay, OfAnEmptyLogReplaysNothing) {
  RecordedSearch nothing;
  nothing.settings.has_baseline = false;
  const Replay none = replay(nothing, search::preset("archive").policy);
  EXPECT_EQ(none.recorded, 0U);
  EXPECT_EQ(none.replayed, 0U);
  EXPECT_THAT(none.why_stopped, HasSubstr("'seed'"));
}

TEST(Replay, OfACutLogStopsAtTheCut) {
  RecordedSearch log = recorded("archive", 2);
  for (std::size_t kept = 0; kept < log.events.size(); kept += 3) {
    RecordedSearch cut = log;
    cut.events.resize(kept);
    const Replay part = replay(cut, cut.policy);
    EXPECT_LE(part.replayed, part.recorded);
  }
}

TEST(RecordedCalls, KnowTheStateOfTheParentAndTheGain) {
  const RecordedSearch log = recorded("one-plus-one", 1);
  const std::vector<RecordedCall> calls = calls_of(log);
  ASSERT_EQ(calls.size(), 16U);
  EXPECT_EQ(calls.front().state, ParentState::First);
  double best = 0;
  for (const RecordedCall& call : calls) {
    EXPECT_NEAR(call.best_before, best, 1e-12);
    best += call.gain();
  }
  EXPECT_GT(best, 0);
}

TEST(RecordedCalls, HaveTheEvaluationThatCountsInTheEnd) {
  RecordedSearch log = recorded("one-plus-one", 1);
  const auto last = std::find_if(log.events.rbegin(), log.events.rend(), [](const auto& event) {
    return std::holds_alternative<search::Added>(event);
  });
  const search::CandidateId candidate = std::get<search::Added>(*last).candidate;
  search::Outcome wrong;
  wrong.verdict = tasks::Verdict::Wrong;
  log.events.emplace_back(search::Withdrawn{candidate, {}});
  log.events.emplace_back(search::Decided{search::Evaluate{candidate}, {}});
  log.events.emplace_back(search::Evaluated{candidate, wrong});
  EXPECT_EQ(calls_of(log).back().outcome.verdict, tasks::Verdict::Wrong);
  EXPECT_EQ(replay(log, log.policy).replayed, 16U);
}

} // namespace
} // namespace winnow::lab
