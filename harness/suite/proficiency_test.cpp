#include "harness/suite/suite_scores.h"

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

ModelSuggestion correct_kernel(const std::string& digest) {
  return {true, true, digest};
}
const ModelSuggestion kWrongKernel{true, false, "wrong"};
const ModelSuggestion kNoKernel{false, false, "prose"};

std::vector<ModelSuggestion> ten(const ModelSuggestion& suggestion) {
  return std::vector<ModelSuggestion>(kSuggestions, suggestion);
}

TEST(Proficiency, HasTheLevelsOfTheStudy) {
  EXPECT_EQ(proficiency(ten(kNoKernel)), 0) << "non-knowledge: no code at all";
  EXPECT_EQ(proficiency(ten(kWrongKernel)), 0) << "non-knowledge: no correct code";
  std::vector<ModelSuggestion> suggestions = ten(kWrongKernel);
  suggestions[9] = correct_kernel("a");
  EXPECT_EQ(proficiency(suggestions), 0.5) << "learner: the others have the requested form";
  suggestions[0] = kNoKernel;
  EXPECT_EQ(proficiency(suggestions), 0.25) << "novice: one has not the requested form";
  suggestions = ten(correct_kernel("a"));
  EXPECT_EQ(proficiency(suggestions), 1) << "expert: one piece of code";
  suggestions[4] = correct_kernel("b");
  EXPECT_EQ(proficiency(suggestions), 0.75) << "proficient: all are correct";
  suggestions[5] = kNoKernel;
  EXPECT_EQ(proficiency(suggestions), 0.25) << "nine correct ones do not make up for prose";
}

TEST(Proficiency, LooksAtTheFirstTenSuggestions) {
  std::vector<ModelSuggestion> suggestions = ten(kWrongKernel);
  suggestions.push_back(correct_kernel("a"));
  EXPECT_EQ(proficiency(suggestions), 0);
  suggestions.resize(kSuggestions - 1);
  EXPECT_FALSE(proficiency(suggestions));
  EXPECT_FALSE(proficiency({}));
}

} // namespace
} // namespace winnow::harness
