#include "agents/prompts/folded_names.h"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

std::vector<std::string> texts_of(const std::vector<std::string>& names) {
  std::vector<NameOfKind> given;
  for (const std::string& name : names) {
    given.push_back({name, ""});
  }
  std::vector<std::string> texts;
  for (const NameOfKind& pattern : folded(given)) {
    texts.push_back(pattern.name);
  }
  return texts;
}

TEST(FoldedNames, JoinWhatDiffersInOnePart) {
  EXPECT_THAT(texts_of({"a_0_w", "a_1_w", "a_2_w"}), ElementsAre("a_{0..2}_w"));
  EXPECT_THAT(texts_of({"bn1_weight", "bn1_bias", "bn2_weight", "bn2_bias"}),
              ElementsAre("bn{1,2}_{weight,bias}"));
  EXPECT_THAT(texts_of({"l_1_w", "l_3_w", "l_4_w"}), ElementsAre("l_{1,3,4}_w"));
  EXPECT_THAT(texts_of({"l_09_w", "l_10_w", "l_11_w"}), ElementsAre("l_{09,10,11}_w"));
}

// {a, b} x {w, v} without one of the four is two patterns.
TEST(FoldedNames, StandForNoOtherNames) {
  EXPECT_THAT(texts_of({"a_w", "a_v", "b_w"}), ElementsAre("a_{w,v}", "b_w"));
  const auto kinds = folded({{"a_0", "[4]"}, {"a_1", "[8]"}, {"a_2", "[4]"}});
  ASSERT_THAT(kinds, SizeIs(2));
  EXPECT_EQ(kinds[0].name, "a_{0,2}");
  EXPECT_EQ(kinds[1].kind, "[8]");
}

/// As a reader of the rule expands a pattern.
std::vector<std::string> expanded(const std::string& pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) {
    return {pattern};
  }
  const std::size_t close = pattern.find('}', open);
  const std::string inside = pattern.substr(open + 1, close - open - 1);
  std::vector<std::string> choices;
  if (const std::size_t dots = inside.find(".."); dots != std::string::npos) {
    for (int i = std::stoi(inside); i <= std::stoi(inside.substr(dots + 2)); ++i) {
      choices.push_back(std::to_string(i));
    }
  } else {
    std::istringstream list(inside);
    for (std::string choice; std::getline(list, choice, ',');) {
      choices.push_back(choice);
    }
  }
  std::vector<std::string> names;
  for (const std::string& choice : choices) {
    for (const std::string& name :
         expanded(pattern.substr(0, open) + choice + pattern.substr(close + 1))) {
      names.push_back(name);
    }
  }
  return names;
}

TEST(FoldedNames, AreFoundAgainByTheRule) {
  std::vector<std::string> names{"conv1_weight", "fc_weight", "fc_bias", "x_01", "x_1", "x__1"};
  for (int layer = 1; layer <= 4; ++layer) {
    for (int block = 0; block < layer + 2; ++block) {
      for (int part = 1; part <= 3; ++part) {
        for (const char* kind : {"weight", "bias", "running_mean"}) {
          names.push_back(fmt::format("layer{}_{}_bn{}_{}", layer, block, part, kind));
        }
        names.push_back(fmt::format("layer{}_{}_conv{}_weight", layer, block, part));
      }
    }
  }
  std::vector<std::string> found;
  const std::vector<std::string> patterns = texts_of(names);
  for (const std::string& pattern : patterns) {
    const std::vector<std::string> some = expanded(pattern);
    found.insert(found.end(), some.begin(), some.end());
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(names));
  EXPECT_LT(patterns.size(), names.size() / 8);
}

} // namespace
} // namespace winnow::agents
