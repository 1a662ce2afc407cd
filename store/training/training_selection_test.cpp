#include "store/training/training_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// A correct reply of 100 tokens to a prompt of its own, whose speedup is known within 10 %.
TrainingFacts reply(RowId candidate, double speedup) {
  TrainingFacts facts;
  facts.candidate = candidate;
  facts.task = facts.board = "axpy";
  facts.prompt = candidate;
  facts.kernel = "kernel " + std::to_string(candidate);
  facts.code = "code " + std::to_string(candidate);
  facts.verdict = tasks::Verdict::Correct;
  facts.stage = tasks::Stage::Done;
  facts.promoted = true;
  facts.speedup = speedup;
  facts.speedup_low = speedup * 0.9;
  facts.speedup_high = speedup * 1.1;
  facts.tokens = 100;
  return facts;
}

std::vector<RowId> supervised(const std::vector<TrainingFacts>& facts, LeftOut& left_out,
                              const TrainingOptions& options = {}) {
  std::vector<RowId> candidates;
  for (const std::size_t i : select_supervised(facts, options, left_out)) {
    candidates.push_back(facts[i].candidate);
  }
  return candidates;
}

TEST(Supervised, TakesWhatIsRightAndSurelyFast) {
  std::vector<TrainingFacts> facts{reply(1, 2), reply(2, 3), reply(3, 4), reply(4, 5),
                                   reply(5, 1.05)};
  facts[1].verdict = tasks::Verdict::WrongUnseen;
  facts[2].promoted = false;
  facts[3].unranked = true;
  LeftOut left_out;
  EXPECT_THAT(supervised(facts, left_out), ElementsAre(1));
  EXPECT_THAT(left_out, ElementsAre(Pair("is not correct", 1), Pair("is not promoted", 1),
                                    Pair("may not be ranked", 1), Pair("is not faster than 1x", 1)))
      << "1.05 may be 0.945";
}

TEST(Supervised, TakesEachMachineCodeOnceFromTheShortestReply) {
  std::vector<TrainingFacts> facts{reply(1, 2), reply(2, 2), reply(3, 2)};
  facts[0].code = facts[1].code = facts[2].code = "same";
  facts[1].tokens = 50;
  facts[2].board = "axpy on another GPU";
  LeftOut left_out;
  EXPECT_THAT(supervised(facts, left_out), ElementsAre(2, 3));
  EXPECT_THAT(left_out, ElementsAre(Pair("has the machine code of a shorter reply", 1)));
}

TEST(Supervised, ALongerReplyToOnePromptMustBeFaster) {
  std::vector<TrainingFacts> facts{reply(1, 2), reply(2, 2.1), reply(3, 3), reply(4, 2)};
  for (std::size_t i = 0; i < 3; ++i) {
    facts[i].prompt = 7;
    facts[i].tokens = static_cast<std::int64_t>(100 * (i + 1));
  }
  facts[3].tokens = 900; // the only reply to its prompt
  LeftOut left_out;
  EXPECT_THAT(supervised(facts, left_out), ElementsAre(3, 1, 4));
  EXPECT_THAT(left_out, ElementsAre(Pair("is no faster than a shorter reply to its prompt", 1)));
}

TEST(Supervised, TasksTakeTurnsAndHaveAtMostSoManyLines) {
  std::vector<TrainingFacts> facts;
  for (RowId i = 1; i <= 4; ++i) {
    facts.push_back(reply(i, 1 + static_cast<double>(i)));
  }
  facts.push_back(reply(5, 1.5));
  facts.back().task = facts.back().board = "gemm";
  TrainingOptions options;
  options.per_task = 3;
  LeftOut left_out;
  EXPECT_THAT(supervised(facts, left_out, options), ElementsAre(4, 5, 3, 2));
  EXPECT_THAT(left_out, ElementsAre(Pair("comes after the first 3 of its task", 1)));
  options.per_task = 0;
  EXPECT_THAT(supervised(facts, left_out, options), ElementsAre(4, 5, 3, 2, 1));
}

TEST(Preferences, AreRepliesToOnePromptWhoseRaceIsDecided) {
  std::vector<TrainingFacts> facts{reply(1, 2), reply(2, 3), reply(3, 4), reply(4, 5)};
  facts[0].prompt = facts[1].prompt = facts[3].prompt = 7;
  facts[3].verdict = tasks::Verdict::Wrong;
  const std::vector<DecidedRace> races{{"axpy", "kernel 2", "kernel 1", 1.5, 1.4, 1.6},
                                       {"axpy", "kernel 3", "kernel 1", 2.0, 1.9, 2.1},
                                       {"axpy", "kernel 4", "kernel 1", 2.0, 1.9, 2.1},
                                       {"axpy elsewhere", "kernel 1", "kernel 2", 1.5, 1.4, 1.6}};
  LeftOut left_out;
  const std::vector<TrainingPair> pairs = select_pairs(facts, races, {}, left_out);
  ASSERT_EQ(pairs.size(), 1U) << "the third has another prompt, the fourth is wrong";
  EXPECT_EQ(facts[pairs[0].chosen].candidate, 2);
  EXPECT_EQ(facts[pairs[0].rejected].candidate, 1);
  EXPECT_THAT(left_out,
              ElementsAre(Pair("has no decided race with another reply to its prompt", 2)));
}

TEST(Rewards, BlameNoReplyForTheMachine) {
  std::vector<TrainingFacts> facts{reply(1, 2), reply(2, 2), reply(3, 2), reply(4, 2)};
  facts[1].verdict = tasks::Verdict::Infrastructure;
  facts[2].verdict = tasks::Verdict::Unsupported;
  facts[3].verdict = tasks::Verdict::BadReply;
  LeftOut left_out;
  EXPECT_THAT(select_rewarded(facts, left_out), ElementsAre(0, 3));
  EXPECT_THAT(left_out, ElementsAre(Pair("was not judged by its own merit", 2)));
}

TEST(Rewards, CountTheLeastSpeedup) {
  TrainingFacts facts = reply(1, 2);
  EXPECT_DOUBLE_EQ(reward_of(facts).value(), 0.3 + 1.8);
  facts.verdict = tasks::Verdict::Wrong;
  facts.stage = tasks::Stage::Check;
  EXPECT_EQ(reward_of(facts).value(), 0);
  EXPECT_TRUE(reward_of(facts).compiled);
  EXPECT_EQ(reward_of(facts).speedup_low, 0);
  facts.stage = tasks::Stage::Compile;
  EXPECT_FALSE(reward_of(facts).compiled);
}

} // namespace
} // namespace winnow::store
