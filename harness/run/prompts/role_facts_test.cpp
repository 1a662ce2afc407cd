#include "evaluators/evaluation/profile.h"
#include "harness/run/prompts/role_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::ElementsAre;
using testing::Pair;

evaluators::ProfiledShape profiled(double dram_pct, double occupancy) {
  evaluators::ProfiledShape shape;
  shape.shape_id = "search/0";
  shape.shape.shape = "n=1000";
  shape.shape.time_ns = 1000;
  shape.shape.speed_of_light = profiling::SpeedOfLight{};
  shape.shape.speed_of_light->fraction = 0.5;
  shape.shape.counters.counters["dram_throughput_pct"] = {dram_pct, ""};
  shape.shape.counters.counters["l2_hit_rate_pct"] = {std::nullopt, "not on this chip"};
  shape.launch.launches = 2;
  shape.launch.occupancy = occupancy;
  return shape;
}

tasks::Evaluation profiled_evaluation() {
  tasks::Evaluation evaluation;
  evaluation.verdict = tasks::Verdict::Correct;
  evaluation.score_ns = 2500;
  evaluation.hidden_speedup = 1.9173;
  evaluation.build.kernels = {{"k", 32, 8, 16, 24, 1024}, {"l", 32, 0, 0, 0, 0}};
  evaluation.profile = nlohmann::json{profiled(40, 0.5), profiled(60, 1)}.dump();
  tasks::CaseResult hidden;
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.median_ns = 7919;
  evaluation.cases = {hidden};
  return evaluation;
}

TEST(RecordFacts, AreMeansOverTheProfiledShapes) {
  const std::map<std::string, double> facts = record_facts(profiled_evaluation());
  EXPECT_EQ(facts.at("time_us"), 2.5);
  EXPECT_EQ(facts.at("dram_throughput_pct"), 50);
  EXPECT_EQ(facts.at("theoretical_occupancy_pct"), 75);
  EXPECT_EQ(facts.at("speed_of_light_pct"), 50);
  EXPECT_EQ(facts.at("launches"), 2);
  EXPECT_EQ(facts.at("spill_bytes_per_thread"), 24) << "of the kernel that spills most";
  EXPECT_FALSE(facts.contains("l2_hit_rate_pct")) << "it was not read";
}

TEST(RecordFacts, HaveNoHiddenShape) {
  for (const std::string& line : fact_lines(record_facts(profiled_evaluation()))) {
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("7919")));
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("1.917")));
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("hidden")));
  }
}

TEST(RecordFacts, OfAnEvaluationWithoutAProfileAreFew) {
  EXPECT_THAT(record_facts({}), testing::IsEmpty());
  tasks::Evaluation evaluation;
  evaluation.score_ns = 1000;
  EXPECT_THAT(fact_lines(record_facts(evaluation)), ElementsAre("time_us = 1"));
}

TEST(JudgeScores, CompareTheChangeWithThePrediction) {
  const std::string advice = R"({"effects": [
      {"metric": "time_us", "direction": "down", "percent": 30},
      {"metric": "dram_throughput_pct", "direction": "up", "percent": 50},
      {"metric": "blocks", "direction": "up", "percent": 10},
      {"metric": "launches", "direction": "down", "percent": 50},
      {"metric": "spill_bytes_per_thread", "direction": "up", "percent": 50}]})";
  const std::vector<store::AdviceScore> scores = judge_scores(
      advice,
      {{"time_us", 10},
       {"dram_throughput_pct", 40},
       {"blocks", 100},
       {"launches", 2},
       {"spill_bytes_per_thread", 0}},
      {{"time_us", 8}, {"dram_throughput_pct", 30}, {"blocks", 101}, {"spill_bytes_per_thread", 8}},
      7);
  ASSERT_EQ(scores.size(), 3U) << "one fact was 0, and one is not known of the child";
  EXPECT_EQ(scores[0].candidate, 7);
  EXPECT_EQ(scores[0].name, "time_us");
  EXPECT_EQ(scores[0].predicted, -30);
  EXPECT_NEAR(scores[0].actual, -20, 1e-9);
  EXPECT_TRUE(scores[0].is_right);
  EXPECT_NEAR(scores[1].actual, -25, 1e-9);
  EXPECT_FALSE(scores[1].is_right) << "the other direction";
  EXPECT_FALSE(scores[2].is_right) << "too small to see";
}

} // namespace
} // namespace winnow::harness
