#include "agents/prompts/missions.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MissionWords, DifferEachTime) {
  const std::string first = mission_words("even work");
  std::set<std::string> words{first};
  for (int repeats = 1; repeats < 4; ++repeats) {
    const std::string again = mission_words("even work", repeats);
    EXPECT_THAT(again, StartsWith(first));
    EXPECT_TRUE(words.insert(again).second) << repeats;
  }
  EXPECT_THAT(mission_words("even work", 1), HasSubstr("One other call has this direction"));
  EXPECT_THAT(mission_words("even work", 2), HasSubstr("2 other calls have this direction"));
}

// A batch of many calls on one kernel.
TEST(MissionWords, AreEnoughForEightCallsOfEachKind) {
  int seeds = 0, changes = 0;
  for (const Mission& mission : missions()) {
    ++(mission.for_seeds ? seeds : changes);
    EXPECT_TRUE(mission.for_seeds || mission.mark.empty()) << mission.name;
  }
  EXPECT_GE(seeds, 8);
  EXPECT_GE(changes, 8);
}

} // namespace
} // namespace winnow::agents
