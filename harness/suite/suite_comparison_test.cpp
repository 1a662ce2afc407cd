#include "harness/suite/suite_scores.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// The part of a document "winnow.suite" that the comparison reads. `speedups`: of the best kernel
/// of each problem; 0: no reply is correct.
json run_of(const std::string& name, const std::vector<double>& speedups) {
  json run{{"run_id", 1},
           {"run", name},
           {"status", "finished"},
           {"models", {"model of " + name}},
           {"device_names", {"H100"}},
           {"strategy", "best-of-n"},
           {"distinction", ""},
           {"calls_per_problem", 5},
           {"problems", json::array()},
           {"folders",
            {{{"calls", 30},
              {"prompt_tokens", 3000},
              {"completion_tokens", 500},
              {"dollars", 1.5},
              {"calls_without_price", 0},
              {"device_seconds", 12.25}}}}};
  for (const double speedup : speedups) {
    run["problems"].push_back(
        {{"is_flagged", false},
         {"correct", speedup > 0 ? 2 : 0},
         {"proficiency", nullptr},
         {"best", {{"speedup", speedup > 0 ? json(speedup) : json(nullptr)}}}});
  }
  return run;
}

json compared(const std::vector<json>& runs) {
  return comparison_json({{"runs", runs}});
}

std::vector<std::string> names_of(const json& comparison) {
  std::vector<std::string> names;
  for (const json& row : comparison.at("rows")) {
    names.push_back(row.at("run"));
  }
  return names;
}

TEST(SuiteComparison, HasTheMeansOverTheProblems) {
  const json comparison = compared({run_of("a", {0.5, 1, 2, 4, 0, 0, 0, 8})});
  EXPECT_EQ(comparison.at("problems"), 8);
  const json& row = comparison.at("rows").at(0);
  EXPECT_EQ(row.at("model"), "model of a");
  EXPECT_EQ(row.at("strategy"), "best-of-n");
  EXPECT_EQ(row.at("correct").at("value"), 5.0 / 8);
  EXPECT_EQ(row.at("fast_1").at("value"), 3.0 / 8) << "1.00x is not faster than 1";
  EXPECT_EQ(row.at("fast_2").at("value"), 2.0 / 8);
  EXPECT_NEAR(row.at("speedup").at("value").get<double>(), 2, 1e-12) << "of the correct kernels";
  EXPECT_EQ(row.at("speedup").at("problems"), 5);
  EXPECT_NEAR(row.at("pass_at_1").at("value").get<double>(), 5.0 / 8 * 2 / 5, 1e-12);
  EXPECT_NEAR(row.at("pass_at_5").at("value").get<double>(), 5.0 / 8, 1e-12);
  EXPECT_EQ(row.at("calls"), 30);
  EXPECT_EQ(row.at("device_seconds"), 12.25);
}

TEST(SuiteComparison, TheLabelSaysWhatDiffers) {
  json run = run_of("a", {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(compared({run}).at("rows").at(0).at("label"), "model of a, best-of-n");
  run["distinction"] = "prompts mine/";
  const json comparison = compared({run});
  EXPECT_EQ(comparison.at("rows").at(0).at("label"), "model of a, best-of-n, prompts mine/");
  EXPECT_THAT(comparison_text(comparison), HasSubstr("model of a, best-of-n, prompts mine/"));
}

TEST(SuiteComparison, WhatIsNotKnownIsNull) {
  json run = run_of("a", {1, 1, 1, 1, 1, 1});
  json row = compared({run}).at("rows").at(0);
  EXPECT_TRUE(row.at("pass_at_10").at("value").is_null()) << "there are five replies only";
  EXPECT_TRUE(row.at("pass_at_10").at("rank").is_null());
  EXPECT_TRUE(row.at("proficiency").at("value").is_null());
  EXPECT_EQ(row.at("correct").at("value"), 1);
  EXPECT_TRUE(row.at("correct").at("low").is_null()) << "equal values tell nothing of the spread";
  run["strategy"] = "archive";
  row = compared({run}).at("rows").at(0);
  EXPECT_TRUE(row.at("pass_at_1").at("value").is_null()) << "each reply saw the earlier ones";
  const json nothing = compared({run_of("a", {0, 0, 0, 0, 0, 0})}).at("rows").at(0);
  EXPECT_TRUE(nothing.at("speedup").at("value").is_null());
  EXPECT_EQ(nothing.at("fast_1").at("value"), 0);
  EXPECT_TRUE(compared({}).at("rows").empty());
}

TEST(SuiteComparison, IntervalsNeedSixProblemsAndAreAlwaysTheSame) {
  const std::vector<double> speedups{1, 2, 3, 0, 5, 6, 7};
  const json first = compared({run_of("a", speedups)});
  EXPECT_EQ(first, compared({run_of("a", speedups)}));
  const json& speedup = first.at("rows").at(0).at("speedup");
  EXPECT_LT(speedup.at("low").get<double>(), speedup.at("value").get<double>());
  EXPECT_GT(speedup.at("high").get<double>(), speedup.at("value").get<double>());
  EXPECT_GE(speedup.at("low").get<double>(), 1);
  EXPECT_LE(speedup.at("high").get<double>(), 7);
  EXPECT_FALSE(first.at("rows").at(0).at("correct").at("low").is_null());
  const json few = compared({run_of("a", {1, 2, 3, 0, 5})}).at("rows").at(0);
  EXPECT_TRUE(few.at("correct").at("low").is_null());
  EXPECT_TRUE(few.at("speedup").at("low").is_null());
}

TEST(SuiteComparison, OnlyASureDifferenceMakesARank) {
  const json comparison = compared({run_of("slow", {1, 2, 3, 4, 5, 6, 7, 8}),
                                    run_of("fast", {1.2, 2.3, 3.5, 4.9, 6, 7.1, 8.3, 9.7}),
                                    run_of("as fast", {1.3, 2.2, 3.6, 4.8, 6.1, 7, 8.4, 9.6})});
  EXPECT_EQ(names_of(comparison), (std::vector<std::string>{"fast", "as fast", "slow"}));
  const auto rank = [&](int row, const char* quantity) {
    const json& mean = comparison.at("rows").at(static_cast<std::size_t>(row)).at(quantity);
    return std::pair(mean.at("rank").get<int>(), mean.at("tied").get<bool>());
  };
  EXPECT_EQ(rank(0, "speedup"), std::pair(1, true));
  EXPECT_EQ(rank(1, "speedup"), std::pair(1, true));
  EXPECT_EQ(rank(2, "speedup"), std::pair(3, false))
      << "the intervals overlap, but 20 % at each problem are no accident";
  EXPECT_EQ(rank(2, "correct"), std::pair(1, true));
}

TEST(SuiteComparison, ThreeWinsAndNoLossAreATie) {
  const json comparison =
      compared({run_of("a", {1, 1, 1, 0, 0, 0}), run_of("b", {1, 1, 1, 1, 1, 1})});
  for (const json& row : comparison.at("rows")) {
    EXPECT_EQ(row.at("correct").at("rank"), 1);
  }
}

TEST(SuiteComparison, SpeedupsAreComparedAtProblemsThatBothSolve) {
  // "easy" solves the easy problems only, where all kernels are fast.
  const json comparison = compared({run_of("easy", {9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0}),
                                    run_of("all", {9, 9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1})});
  EXPECT_EQ(names_of(comparison), (std::vector<std::string>{"all", "easy"}));
  const json &all = comparison.at("rows").at(0), &easy = comparison.at("rows").at(1);
  EXPECT_GT(easy.at("speedup").at("value"), all.at("speedup").at("value"));
  EXPECT_EQ(all.at("speedup").at("rank"), 1);
  EXPECT_EQ(easy.at("speedup").at("rank"), 1) << "at the same problems they are equal";
  EXPECT_TRUE(easy.at("speedup").at("tied").get<bool>());
  EXPECT_EQ(easy.at("correct").at("rank"), 2);
}

TEST(SuiteComparison, FewProblemsTellNobodyApart) {
  const json comparison = compared({run_of("a", {0, 0, 0, 0, 0}), run_of("b", {2, 2, 2, 2, 2})});
  for (const json& row : comparison.at("rows")) {
    EXPECT_EQ(row.at("correct").at("rank"), 1);
    EXPECT_TRUE(row.at("correct").at("tied").get<bool>());
  }
  EXPECT_THAT(comparison_text(comparison),
              HasSubstr("fewer than 6 problems: no interval, and all rows tie"));
}

TEST(SuiteComparison, LeavesFlaggedProblemsOut) {
  json run = run_of("a", {2, 2, 2, 2, 2, 2, 0});
  run["problems"][6]["is_flagged"] = true;
  const json comparison = compared({run});
  EXPECT_EQ(comparison.at("problems"), 6);
  EXPECT_EQ(comparison.at("flagged"), 1);
  EXPECT_EQ(comparison.at("rows").at(0).at("correct").at("value"), 1);
  EXPECT_THAT(comparison_text(comparison),
              HasSubstr("6 problems (1 problem with a flag left out)"));
}

TEST(SuiteComparison, IsATable) {
  json unfinished = run_of("b", {0, 0, 0, 0, 0, 0});
  unfinished["status"] = "interrupted";
  unfinished["folders"][0]["dollars"] = nullptr;
  json cheap = run_of("c", {0, 0, 0, 0, 0, 0});
  cheap["folders"][0]["calls_without_price"] = 3;
  const std::string text =
      comparison_text(compared({run_of("a", {1, 2, 3, 0, 5, 6}), unfinished, cheap}));
  EXPECT_THAT(text, HasSubstr("comparison at 6 problems:"));
  EXPECT_THAT(text, HasSubstr("model of a, best-of-n "));
  EXPECT_THAT(text, HasSubstr("model of b, best-of-n (interrupted)"));
  EXPECT_THAT(text, HasSubstr("=1")) << "five wins and no loss are a tie: p = 0.0625";
  EXPECT_THAT(text, HasSubstr("0.83 (0.50-1.00)"));
  EXPECT_THAT(text, HasSubstr("3500"));
  EXPECT_THAT(text, HasSubstr("3500  unknown")) << "tokens without a price";
  EXPECT_THAT(text,
              HasSubstr("  some calls have no price: the cost of their rows is a lower bound\n"));
  EXPECT_THAT(text, HasSubstr("  not all runs are finished"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_EQ(comparison_text(compared({})), "");
}

TEST(SuiteComparison, SaysWhatDoesNotCompare) {
  const json run = run_of("a", {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(compared({run, run}).at("notes").empty());
  EXPECT_TRUE(compared({}).at("notes").empty());
  json other = run;
  other["device_names"] = {"H200"};
  other["calls_per_problem"] = 9;
  EXPECT_EQ(compared({run, other}).at("notes"),
            (json{"the rows are from different devices, so their speedups do not compare",
                  "the rows have different numbers of calls for each problem"}));
}

/// The share of the sets of k of `replies` replies that have a correct one, by looking at each set.
double share_of_sets(unsigned k, unsigned replies, unsigned correct) {
  double sets = 0, with_correct = 0;
  for (unsigned bits = 0; bits < (1U << replies); ++bits) {
    if (static_cast<unsigned>(std::popcount(bits)) == k) {
      ++sets;
      with_correct += (bits & ((1U << correct) - 1)) != 0 ? 1 : 0;
    }
  }
  return with_correct / sets;
}

double binomial(unsigned n, unsigned k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0));
}

TEST(PassAtK, IsTheShareOfTheSetsOfKReplies) {
  for (unsigned replies = 1; replies <= 10; ++replies) {
    for (unsigned correct = 0; correct <= replies; ++correct) {
      for (unsigned k = 1; k <= replies; ++k) {
        const double expected = share_of_sets(k, replies, correct);
        ASSERT_NEAR(pass_at(k, replies, correct), expected, 1e-12)
            << fmt::format("k {}, {} of {}", k, correct, replies);
        const double miss =
            replies - correct < k ? 0 : binomial(replies - correct, k) / binomial(replies, k);
        ASSERT_NEAR(1 - miss, expected, 1e-9);
      }
    }
  }
}

TEST(PassAtK, DoesNotOverflow) { // C(10000, 5000) has 3008 digits
  EXPECT_NEAR(pass_at(5000, 10'000, 1), 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(pass_at(10'000, 10'000, 1), 1);
  EXPECT_NEAR(pass_at(1, 1'000'000, 1), 1e-6, 1e-12);
}

} // namespace
} // namespace winnow::harness
