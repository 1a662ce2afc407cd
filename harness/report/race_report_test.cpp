#include "evaluators/timing/timed_case.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/testing/report_fake.h"
#include "harness/report/timed_shapes.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

KernelPair race_of(double rival_factor, const std::string& verdict) {
  KernelPair report{"axpy",
                    {"fast.cu", "d1", timed_evaluation(10, rival_factor)},
                    JudgedKernel{"slow.cu", "d2", timed_evaluation(12)}};
  report.kernel.evaluation.parameters = {{"BLOCK", 256}};
  report.kernel.evaluation.race = tasks::RaceResult{
      "d2", verdict, rival_factor, {rival_factor - 0.005, rival_factor + 0.005}, 24};
  return report;
}

TEST(RaceReport, SaysWhichIsFasterByHowMuchHowSure) {
  const std::string text = race_text(race_json(race_of(1.034, "faster")));
  EXPECT_THAT(text,
              testing::StartsWith("A is 1.034x as fast as B: 1.029 to 1.039 (99 %), 24 blocks "
                                  "of four launches; faster at 2 of 2 shapes\n"));
  EXPECT_THAT(text, ContainsRegex("n=1000 +10.01 us +10.00 to 10.02 us +10.35 us"));
  EXPECT_THAT(text, HasSubstr("verdict: A is faster\n"));
  EXPECT_THAT(text, HasSubstr("A: fast.cu, BLOCK=256\nB: slow.cu\n"));
}

TEST(RaceReport, ATieIsTheSameWithinTheNoise) {
  const std::string text = race_text(race_json(race_of(1, "tie")));
  EXPECT_THAT(text, HasSubstr("faster at 0 of 2 shapes"));
  EXPECT_THAT(text, HasSubstr("verdict: tie (the same within the noise)"));
  EXPECT_THAT(race_text(race_json(race_of(1, "undecided"))),
              HasSubstr("verdict: undecided (the same within the noise"));
}

TEST(RaceReport, ARaceThatWasGivenUpSaysNoMoreThanItsInterval) {
  const std::string text = race_text(race_json(race_of(0.999, "not shown to be faster")));
  EXPECT_THAT(text, HasSubstr("verdict: A is not shown to be faster (the race was given up"));
  EXPECT_THAT(text, Not(HasSubstr("slower")));
}

TEST(RaceReport, ABoundBesideOneIsNotRoundedToOne) {
  EXPECT_EQ(ratio_interval_text({0.98, 0.99996}), "0.980 to 0.99996");
  EXPECT_EQ(ratio_interval_text({1.00004, 1.02}), "1.00004 to 1.020");
  EXPECT_EQ(ratio_interval_text({1, 1.02}), "1.000 to 1.020");
}

TEST(RaceReport, AnIntervalWithoutEndIsNone) {
  KernelPair report = race_of(0.5, "undecided");
  report.kernel.evaluation.race->bounds = {0, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(race_text(race_json(report)),
              HasSubstr("0.500x as fast as B: too few launches for an interval"));
  EXPECT_EQ(race_json(report)["bounds"], nullptr);
}

TEST(RaceReport, KnowsNoRatioWhereAShapeHadTooFewLaunches) {
  KernelPair report = race_of(1, "undecided");
  tasks::CaseResult& shape = report.kernel.evaluation.cases[0];
  shape.samples_ns.resize(1);
  shape.incumbent_samples_ns.resize(1);
  report.kernel.evaluation.race = evaluators::race_of(report.kernel.evaluation.cases, "d2");
  const nlohmann::json document = race_json(report);
  EXPECT_EQ(document["ratio"], nullptr);
  EXPECT_THAT(race_text(document),
              testing::StartsWith("no ratio of A and B is known: 1 of 2 shapes had too few"));
}

TEST(RaceReport, NamesTheOneThatIsNotCorrect) {
  KernelPair report = race_of(1.1, "faster");
  report.kernel = {"fast.cu", "d1", {}};
  report.against->evaluation.verdict = tasks::Verdict::Wrong;
  report.against->evaluation.detail = "y[0] = 3, expected 4";
  const std::string text = race_text(race_json(report));
  EXPECT_THAT(text, testing::StartsWith("no race: B is not correct"));
  EXPECT_THAT(text, HasSubstr("y[0] = 3, expected 4"));
  const nlohmann::json document = race_json(report);
  EXPECT_EQ(document["verdict"], nullptr);
  EXPECT_EQ(document["b"]["verdict"], "wrong");
  EXPECT_EQ(document["shapes"], nlohmann::json::array());
}

TEST(RaceReport, WithoutARaceThereIsNoVerdict) {
  KernelPair report = race_of(1.1, "faster");
  report.kernel.evaluation.race.reset();
  EXPECT_THAT(race_text(race_json(report)), HasSubstr("not timed beside each other"));
  EXPECT_THAT(race_text(race_json(report)), Not(HasSubstr("verdict")));
  EXPECT_EQ(race_json(report)["verdict"], nullptr);
}

TEST(RaceReport, JsonHasTheRaceAndItsShapes) {
  const nlohmann::json document = race_json(race_of(1.1, "faster"));
  EXPECT_EQ(document["schema"], "winnow.race");
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["verdict"], "faster");
  EXPECT_DOUBLE_EQ(document["ratio"], 1.1);
  EXPECT_DOUBLE_EQ(document["confidence"], 0.99);
  EXPECT_EQ(document["blocks"], 24);
  EXPECT_EQ(document["faster_shapes"], 2);
  ASSERT_EQ(document["shapes"].size(), 2U);
  EXPECT_NEAR(document["shapes"][1]["ratio"], 1.1, 1e-9);
  EXPECT_EQ(document["shapes"][1]["b_samples_ns"].size(), 20U);
}

TEST(TimedShapes, WriteFourDigits) {
  EXPECT_EQ(time_text(0), "");
  EXPECT_EQ(time_text(950), "950.0 ns");
  EXPECT_EQ(time_text(45'230), "45.23 us");
  EXPECT_EQ(time_text(1'234'000), "1.234 ms");
  EXPECT_EQ(time_interval_text({999, 1001}), "0.999 to 1.001 us");
  EXPECT_EQ(ratio_text(0), "");
  EXPECT_EQ(ratio_text(297.6), "297.6x");
}

} // namespace
} // namespace winnow::harness
