#include "base/text/diagnostic.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/verdict.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

TEST(Verdict, NamesRoundTripAndNumbersStay) {
  std::set<std::string> names;
  for (const Verdict verdict : all_verdicts()) {
    EXPECT_EQ(verdict_from_string(to_string(verdict)), verdict);
    EXPECT_FALSE(describe(verdict).empty());
    names.emplace(to_string(verdict));
  }
  EXPECT_EQ(names.size(), 20U);
  EXPECT_EQ(static_cast<int>(Verdict::OutOfBounds), 8);
  EXPECT_EQ(static_cast<int>(Verdict::Correct), 17);
  EXPECT_EQ(static_cast<int>(Verdict::Refused), 19);
  EXPECT_EQ(to_string(Verdict::OutOfBounds), "out_of_bounds");
  EXPECT_EQ(verdict_from_string("right"), std::nullopt);
  EXPECT_EQ(to_string(static_cast<Verdict>(200)), "unknown_verdict");
}

TEST(Stage, HasAName) {
  std::set<std::string_view> names;
  for (int number = 1; number <= 9; ++number) {
    names.insert(to_string(static_cast<Stage>(number)));
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(names.count("unknown_stage"), 0U);
  EXPECT_EQ(to_string(static_cast<Stage>(200)), "unknown_stage");
}

TEST(Diagnostic, ShowsTheKnownParts) {
  EXPECT_EQ(to_string(Diagnostic{"a.cu", {5, 17}, "what", "how"}), "a.cu:5:17: what; expected how");
  EXPECT_EQ(to_string(Diagnostic{"a.cu", {5, 0}, "what", ""}), "a.cu:5: what");
  EXPECT_EQ(to_string(Diagnostic{"a.cu", {}, "what", ""}), "a.cu: what");
  EXPECT_EQ(to_string(Diagnostic{"", {}, "what", ""}), "what");
}

TEST(Statistics, BoundsOfAMedianAreOrderStatistics) {
  EXPECT_FALSE(median_bounds({1, 2, 3, 4, 5}).known());
  std::vector<double> samples;
  for (int i = 100; i > 0; --i) {
    samples.push_back(i);
  }
  const Bounds bounds = median_bounds(samples); // 50 -+ 1.96 sqrt(100) / 2
  EXPECT_EQ(bounds.low, 41);
  EXPECT_EQ(bounds.high, 61);
  const Bounds few = median_bounds({6, 5, 4, 3, 2, 1});
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 6);
}

TEST(Statistics, MedianAndGeometricMean) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(geometric_mean({}), 0);
  EXPECT_DOUBLE_EQ(geometric_mean({1, 4}), 2);
  EXPECT_EQ(geometric_mean({1, 0}), 0);
}

CaseResult sample_case(ShapeSet set) {
  CaseResult result;
  result.set = set;
  result.shape_id = "search/0";
  result.shape = "cols=4099";
  result.seed = 77;
  result.verdict = Verdict::Wrong;
  result.detail = "cols=4099";
  result.median_ns = 12345;
  result.samples_ns = {12345};
  result.mismatch =
      Mismatch{"y", 1, 10, 3, "(row 0, col 3)", std::nan(""), 2.5, 0.1, INFINITY, "all NaN"};
  return result;
}

TEST(EvaluationJson, HasSchemaAndCases) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::Wrong;
  evaluation.stage = Stage::Search;
  evaluation.detail = "bad \xff byte";
  evaluation.parameters = {{"BLOCK", 128}};
  evaluation.notes = {"no launch uses kernel 'k'"};
  evaluation.seed = ~std::uint64_t{0};
  evaluation.unranked = "its seed was given";
  evaluation.cases = {sample_case(ShapeSet::Search)};
  const nlohmann::json json = evaluation_json(evaluation);
  EXPECT_EQ(json["schema"], "winnow.evaluation");
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["verdict"], "wrong");
  EXPECT_EQ(json["cases"][0]["median_ns"], 12345);
  EXPECT_EQ(json["seed"], "18446744073709551615") << "text: more than a double holds";
  EXPECT_EQ(json["cases"][0]["seed"], "77");
  EXPECT_EQ(json["unranked"], "its seed was given");
  EXPECT_EQ(evaluation_json({})["seed"], nullptr);
  EXPECT_EQ(json["stage"], "search");
  EXPECT_EQ(json["parameters"]["BLOCK"], 128);
  EXPECT_EQ(json["cases"][0]["shape"], "cols=4099");
  EXPECT_EQ(json["cases"][0]["mismatch"]["got"], "nan");
  EXPECT_EQ(json["cases"][0]["mismatch"]["worst_ratio"], "inf");
  EXPECT_NO_THROW(json.dump()); // dump() throws on invalid UTF-8
}

TEST(EvaluationJson, HidesHiddenShapes) {
  for (const ShapeSet set : {ShapeSet::Promotion, ShapeSet::HeldOut}) {
    Evaluation evaluation;
    evaluation.cases = {sample_case(set)};
    const nlohmann::json hidden = evaluation_json(evaluation)["cases"][0];
    EXPECT_EQ(hidden["verdict"], "wrong");
    for (const char* key :
         {"shape", "shape_id", "seed", "detail", "mismatch", "samples_ns", "median_ns"}) {
      EXPECT_FALSE(hidden.contains(key)) << key;
    }
    EXPECT_EQ(hidden.dump().find("4099"), std::string::npos);
    EXPECT_FALSE(hidden.contains("speed")) << "it was not timed";
    evaluation.cases[0].verdict = Verdict::Correct;
    evaluation.cases[0].baseline_median_ns = 5400;
    evaluation.cases[0].detail = "correctness only: baseline 5.4 us < 20 us";
    EXPECT_EQ(evaluation_json(evaluation)["cases"][0]["speed"], evaluation.cases[0].detail);
    evaluation.cases[0].detail.clear();
    EXPECT_EQ(evaluation_json(evaluation)["cases"][0]["speed"], "counts");
  }
}

} // namespace
} // namespace winnow::tasks
