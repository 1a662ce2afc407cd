#include "tasks/plan/kernel_file.h"
#include "tasks/plan/plan_test_support.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::IsEmpty;

/// A plan with these members beside its launches.
Plan parameters_plan(const std::string& members) {
  const auto file = file_of(
      "{" + members + R"(, "launches": [{"kernel": "k", "grid": 1, "block": 1, "args": ["y"]}]})");
  return file ? file->plan : Plan{};
}

/// P0, P1, ... with the values 1 to 4 each.
Plan wide_plan(int parameters, const std::string& where = "[]") {
  std::string params;
  for (int i = 0; i < parameters; ++i) {
    params += (i == 0 ? "\"P" : ", \"P") + std::to_string(i) + "\": [1, 2, 3, 4]";
  }
  return parameters_plan("\"params\": {" + params + "}, \"where\": " + where);
}

/// How often the values of the parameter occur: from the rarest to the most frequent.
std::vector<int> uses(const Plan& plan, const std::string& name,
                      const std::vector<ParameterChoice>& choices) {
  std::vector<int> result;
  for (const Parameter& parameter : plan.parameters) {
    for (const std::int64_t value : parameter.values) {
      if (parameter.name == name) {
        result.push_back(static_cast<int>(
            std::count_if(choices.begin(), choices.end(), [&](const ParameterChoice& choice) {
              return choice.at(name) == value;
            })));
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::size_t distinct(const std::vector<ParameterChoice>& choices) {
  return std::set<ParameterChoice>(choices.begin(), choices.end()).size();
}

TEST(ParameterChoices, AreAllThatWhereAllows) {
  const Plan plan =
      parameters_plan(R"("params": {"BLOCK": [128, 256, 512], "VEC": [1, 4], "FAST": [false, true]},
      "where": ["BLOCK * VEC <= 1024"], "compile": {"fast_math": "FAST"})");
  const auto choices = parameter_choices(plan, 100);
  EXPECT_EQ(choices.size(), 10U); // BLOCK * VEC <= 1024 leaves 5 of 6; FAST doubles them
  EXPECT_EQ(choices[0], (ParameterChoice{{"BLOCK", 128}, {"VEC", 1}, {"FAST", 0}}));
  EXPECT_EQ(choices[1], (ParameterChoice{{"BLOCK", 128}, {"VEC", 1}, {"FAST", 1}}));
  EXPECT_EQ(choices[2], (ParameterChoice{{"BLOCK", 128}, {"VEC", 4}, {"FAST", 0}}));
  EXPECT_EQ(parameter_choices(plan, 3).size(), 3U);
  EXPECT_FALSE(uses_fast_math(plan, choices[0]));
  EXPECT_TRUE(uses_fast_math(plan, choices[1]));
}

TEST(ParameterChoices, NoParametersIsOneEmptyChoice) {
  EXPECT_EQ(parameter_choices(parameters_plan(R"("let": {})"), 10).size(), 1U);
}

TEST(ParameterChoices, EndEvenWhenNothingIsAllowed) {
  EXPECT_THAT(parameter_choices(wide_plan(30, R"(["P0 > 9"])"), 5), IsEmpty());
}

TEST(ParameterChoices, AWhereWithoutValueIsAnError) {
  const Plan plan = parameters_plan(R"("params": {"A": [0, 1]}, "where": ["4 / A > 1"])");
  EXPECT_THROW(parameter_choices(plan, 5), ExpressionError);
}

TEST(ParameterChoices, AreASampleOfALargeSpace) {
  const Plan plan = wide_plan(30); // 10^18 choices
  const auto choices = parameter_choices(plan, 64);
  ASSERT_EQ(choices.size(), 64U);
  EXPECT_EQ(distinct(choices), 64U);
  EXPECT_EQ(choices, parameter_choices(plan, 64));
  EXPECT_EQ(choices[0], parameter_choices(plan, 1).at(0));
  for (const Parameter& parameter : plan.parameters) {
    EXPECT_EQ(choices[0].at(parameter.name), 1);
    EXPECT_EQ(uses(plan, parameter.name, choices), (std::vector<int>{16, 16, 16, 16}));
  }
}

TEST(ParameterChoices, CombineValuesInManyWays) {
  const Plan plan = wide_plan(9);
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const ParameterChoice& choice : parameter_choices(plan, 64)) {
    pairs.emplace(choice.at("P2"), choice.at("P7"));
  }
  EXPECT_GE(pairs.size(), 13U); // of 16
}

TEST(ParameterChoices, OtherPlansHaveOtherSamples) {
  EXPECT_NE(parameter_choices(wide_plan(9), 20),
            parameter_choices(wide_plan(9, R"(["P0 < 9"])"), 20));
}

TEST(ParameterChoices, AreAllButOne) {
  const Plan plan = wide_plan(3);
  const auto choices = parameter_choices(plan, 63);
  EXPECT_EQ(distinct(choices), 63U);
  EXPECT_EQ(uses(plan, "P1", choices), (std::vector<int>{15, 16, 16, 16}));
  EXPECT_EQ(parameter_choices(plan, 64).size(), 64U);
}

TEST(ParameterChoices, SpreadUnderConditions) {
  const Plan plan =
      parameters_plan(R"("params": {"BLOCK": [32, 64, 128, 256, 512, 1024], "VEC": [1, 2, 4, 8],
      "UNROLL": [1, 2, 4, 8], "STAGES": [1, 2, 3, 4]}, "where": ["BLOCK * VEC <= 1024", "UNROLL * VEC <= 16"])");
  const auto choices = parameter_choices(plan, 48);
  EXPECT_EQ(distinct(choices), 48U);
  for (const ParameterChoice& choice : choices) {
    EXPECT_LE(choice.at("BLOCK") * choice.at("VEC"), 1024);
    EXPECT_LE(choice.at("UNROLL") * choice.at("VEC"), 16);
  }
  for (const Parameter& parameter : plan.parameters) {
    const auto counts = uses(plan, parameter.name, choices);
    EXPECT_LE(counts.back() - counts.front(), 6) << parameter.name;
  }
}

TEST(ParameterChoices, TheDefaultIsTheFirstAllowedChoice) {
  const Plan plan = wide_plan(30, R"(["P0 + P29 == 8", "P1 * P3 == 6"])");
  const auto choices = parameter_choices(plan, 40);
  ASSERT_EQ(choices.size(), 40U);
  ParameterChoice expected;
  for (const Parameter& parameter : plan.parameters) {
    expected[parameter.name] = 1;
  }
  expected["P0"] = expected["P29"] = 4;
  expected["P1"] = 2;
  expected["P3"] = 3;
  EXPECT_EQ(choices[0], expected);
  for (const ParameterChoice& choice : choices) {
    EXPECT_EQ(choice.at("P0") + choice.at("P29"), 8);
    EXPECT_EQ(choice.at("P1") * choice.at("P3"), 6);
  }
}

TEST(ParameterChoices, FindTheFewThatALargeSpaceAllows) {
  std::string where = "[\"P29 >= 3\"";
  for (int i = 0; i < 28; ++i) {
    where += ", \"P" + std::to_string(i) + " > P29\"";
  }
  const auto choices = parameter_choices(wide_plan(30, where + "]"), 10);
  ASSERT_EQ(choices.size(), 4U); // of 10^18: P29 is 3, P28 has any value, the others are 4
  EXPECT_EQ(choices[1].at("P0"), 4);
  EXPECT_EQ(choices[1].at("P28"), 2);
}

TEST(ParameterChoices, EndWhenAllParametersContradictEachOther) {
  std::string sum = "P0";
  for (int i = 1; i < 30; ++i) {
    sum += " + P" + std::to_string(i);
  }
  EXPECT_THAT(parameter_choices(wide_plan(30, "[\"" + sum + " > 200\"]"), 10), IsEmpty());
}

TEST(ParameterChoices, AnEarlierWhereGuardsALaterOne) {
  const Plan plan = parameters_plan(
      R"("params": {"A": [0, 1], "B": [1, 2]}, "where": ["A * B > 0", "4 / A > 1"])");
  EXPECT_EQ(parameter_choices(plan, 5).size(), 2U);
}

TEST(ParameterChoices, AWhereWithoutParametersDecidesAll) {
  EXPECT_THAT(parameter_choices(wide_plan(30, R"(["1 > 2"])"), 5), IsEmpty());
  EXPECT_EQ(parameter_choices(wide_plan(1, R"(["2 > 1"])"), 5).size(), 4U);
  EXPECT_THAT(parameter_choices(wide_plan(1), 0), IsEmpty());
}

TEST(ChoiceWith, KeepsTheNamedValues) {
  const Plan plan = wide_plan(30, R"(["P0 + P29 == 8 - P1"])");
  const auto choice = choice_with(plan, {{"P1", 3}, {"P7", 2}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->at("P0"), 1);
  EXPECT_EQ(choice->at("P29"), 4);
  EXPECT_EQ(choice->at("P7"), 2);
  EXPECT_EQ(choice_with(plan, {{"P0", 1}, {"P29", 1}}), std::nullopt);
  EXPECT_EQ(choice_with(plan, {{"P0", 5}}), std::nullopt);
  EXPECT_EQ(choice_with(plan, {{"Q", 1}}), std::nullopt);
}

} // namespace
} // namespace winnow::tasks
