#include "search/prompt_arms.h"

#include <map>

#include <gtest/gtest.h>

namespace winnow::search {
namespace {

TEST(PromptArmsTest, EachArmIsTriedBeforeEstimatesCount) {
  PromptArms arms;
  std::map<std::string, int> chosen;
  for (int i = 0; i < 2 * PromptArms::kTrial; ++i) {
    const std::string arm = arms.choose({"a", "b"});
    ++chosen[arm];
    arms.begin(arm);
    arms.end(arm, arm == "a" ? 1 : 0);
  }
  EXPECT_EQ(chosen["a"], PromptArms::kTrial);
  EXPECT_EQ(chosen["b"], PromptArms::kTrial);
  EXPECT_EQ(arms.choose({"a", "b"}), "a");
  EXPECT_EQ(arms.choose({}), "");
}

TEST(PromptArmsTest, CallsUnderWaySpreadTheNextOnes) {
  PromptArms arms;
  arms.begin("a");
  EXPECT_EQ(arms.choose({"a", "b"}), "b");
  arms.begin("b");
  arms.begin("b");
  EXPECT_EQ(arms.choose({"a", "b"}), "a");
}

TEST(PromptArmsTest, AreJudgedByTheirMeanAndNotByTheirBestChild) {
  PromptArms arms;
  for (int i = 0; i < 20; ++i) {
    arms.end("steady", 0.1);
    arms.end("lucky", i == 19 ? 0.5 : 0.0);
  }
  EXPECT_GT(arms.estimate("steady"), arms.estimate("lucky"));
  EXPECT_EQ(arms.choose({"lucky", "steady"}), "steady");
  const double all = arms.estimate("new"); // the mean of all children
  EXPECT_GT(all, arms.estimate("lucky"));
  EXPECT_LT(all, arms.estimate("steady"));
}

TEST(PromptArmsTest, TheGainsOfTheBeginningDecay) {
  PromptArms arms;
  for (int i = 0; i < PromptArms::kTrial; ++i) {
    arms.end("first", 1);
  }
  for (int i = 0; i < 100; ++i) {
    arms.end("second", 0.05);
  }
  EXPECT_LT(arms.estimate("first"), 0.1);
}

} // namespace
} // namespace winnow::search
