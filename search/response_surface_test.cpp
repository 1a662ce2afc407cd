#include "search/response_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Trial timed(tasks::ParameterChoice choice, std::vector<double> speeds) {
  return {std::move(choice), tasks::Verdict::NotJudged, "", std::move(speeds)};
}

Trial failed(tasks::ParameterChoice choice, tasks::Verdict verdict) {
  return {std::move(choice), verdict, "", {}};
}

tasks::ParameterChoice blocks(std::int64_t block, std::int64_t vec) {
  return {{"BLOCK", block}, {"VEC", vec}, {"FIXED", 7}};
}

std::vector<Trial> sample_trials() {
  return {timed(blocks(128, 1), {1, 1}),
          timed(blocks(128, 4), {1.02, 1.02}),
          timed(blocks(256, 1), {1.2, 1.1}),
          timed(blocks(256, 4), {1.25, 1.13}),
          timed(blocks(64, 1), {0.7, 0.72}),
          failed(blocks(64, 4), tasks::Verdict::OverLimit),
          timed(blocks(512, 1), {0.8, 1.3}),
          timed(blocks(512, 4), {0.9, 1.35}),
          failed(blocks(1024, 1), tasks::Verdict::LaunchError),
          failed(blocks(1024, 4), tasks::Verdict::OverLimit)};
}

TEST(Trial, OverallIsTheGeometricMean) {
  EXPECT_DOUBLE_EQ(overall(timed({}, {2, 8})), 4);
  EXPECT_EQ(overall(Trial{}), 0);
}

TEST(ResponseSurface, CountsAndExtremes) {
  const ResponseSurface surface = response_surface(sample_trials(), {"n=1000", "n=50000017"});
  EXPECT_EQ(surface.tried, 10);
  EXPECT_EQ(surface.timed, 7);
  EXPECT_EQ(surface.failed.at(tasks::Verdict::OverLimit), 2);
  EXPECT_EQ(surface.failed.at(tasks::Verdict::LaunchError), 1);
  EXPECT_EQ(surface.overall.best.choice, blocks(256, 4));
  EXPECT_NEAR(surface.overall.best.speed, 1.1885, 1e-4);
  EXPECT_EQ(surface.overall.worst.choice, blocks(64, 1));
  EXPECT_EQ(surface.overall.usual.choice, blocks(128, 1));
  EXPECT_EQ(surface.overall.usual.speed, 1);
  EXPECT_EQ(surface.by_shape.at(0).best.choice, blocks(256, 4));
  EXPECT_EQ(surface.by_shape.at(1).best.choice, blocks(512, 4));
  EXPECT_EQ(surface.by_shape.at(1).best.speed, 1.35);
}

TEST(ResponseSurface, OrdersTheEffects) {
  const ResponseSurface surface = response_surface(sample_trials(), {"n=1000", "n=50000017"});
  ASSERT_THAT(surface.effects, SizeIs(3));
  const ParameterEffect& block = surface.effects[0];
  EXPECT_EQ(block.name, "BLOCK");
  EXPECT_EQ(block.fastest, 256);
  EXPECT_EQ(block.slowest, 64);
  EXPECT_NEAR(block.ratio, 1.646, 1e-3);
  EXPECT_THAT(block.best_by_shape, ElementsAre(256, 512));
  EXPECT_TRUE(block.best_differs);
  EXPECT_NEAR(block.gain_by_shape, 1.090, 1e-3);
  EXPECT_EQ(surface.effects[1].name, "VEC");
  EXPECT_FALSE(surface.effects[1].best_differs);
  EXPECT_EQ(surface.effects[2].ratio, 1);
}

TEST(ResponseSurface, LinesForAPrompt) {
  const auto lines = surface_lines(response_surface(sample_trials(), {"n=1000", "n=50000017"}));
  EXPECT_THAT(
      lines,
      ElementsAre("BLOCK matters most (1.65x between 256 and 64), VEC (1.15x between 4 and 1)",
                  "best overall BLOCK=256 VEC=4: 1.19x the default; worst BLOCK=64 VEC=1: 0.71x",
                  "at n=1000: best BLOCK=256 VEC=4: 1.25x the default",
                  "at n=50000017: best BLOCK=512 VEC=4: 1.35x the default",
                  "gain if chosen by shape: BLOCK (1.09x)",
                  "3 of 10 choices failed: 2 over_limit, 1 launch_error"));
}

TEST(ResponseSurface, AParameterThatMattersLittle) {
  const auto lines = surface_lines(
      response_surface({timed(blocks(64, 1), {1}), timed(blocks(64, 2), {0.99})}, {"n=8"}));
  EXPECT_THAT(lines, ElementsAre("VEC matters little (1.01x)",
                                 "best overall VEC=1 (the default); worst VEC=2: 0.99x"));
}

TEST(ResponseSurface, OneChoiceIsBestEverywhere) {
  const auto lines = surface_lines(response_surface(
      {timed(blocks(64, 1), {1, 1}), timed(blocks(32, 1), {2, 3})}, {"n=8", "n=9"}));
  EXPECT_THAT(lines, ElementsAre("BLOCK matters (2.45x between 32 and 64)",
                                 "best overall BLOCK=32: 2.45x the default; worst BLOCK=64: 1.00x",
                                 "the same choice is best at every shape"));
}

TEST(ResponseSurface, AChoiceThatFailedIsNeverTheBest) {
  Trial wrong = timed(blocks(256, 1), {9});
  wrong.verdict = tasks::Verdict::Wrong;
  const auto surface = response_surface({timed(blocks(64, 1), {1}), wrong}, {"n=8"});
  EXPECT_EQ(surface.overall.best.choice, blocks(64, 1));
  EXPECT_THAT(surface_lines(surface),
              ElementsAre("only one choice was timed", "1 of 2 choices failed: 1 wrong"));
}

TEST(ResponseSurface, NothingWasTimed) {
  EXPECT_THAT(surface_lines(response_surface({}, {"n=8"})), ElementsAre("no choice was timed"));
  const auto surface =
      response_surface({failed(blocks(64, 1), tasks::Verdict::Crashed)}, {"n=8", "n=9"});
  EXPECT_THAT(surface.effects, IsEmpty());
  EXPECT_THAT(surface_lines(surface),
              ElementsAre("no choice was timed", "1 of 1 choices failed: 1 crashed"));
}

TEST(ResponseSurface, LinesStayFewAndShort) {
  std::vector<std::string> shapes;
  for (int i = 0; i < 40; ++i) {
    shapes.push_back("an_axis_with_a_long_name=" + std::string(500, '1') + std::to_string(i));
  }
  std::vector<Trial> trials;
  for (int trial = 0; trial < 60; ++trial) {
    Trial& added = trials.emplace_back();
    for (int name = 0; name < 30; ++name) {
      added.choice[std::string(3000, 'x') + std::to_string(name)] =
          (trial >> (name % 6)) % 2 - 9'000'000'000'000'000'000;
    }
    for (int shape = 0; shape < 40; ++shape) {
      added.speeds.push_back(1 + 0.37 * ((trial * 31 + shape * 17) % 60));
    }
    const auto& verdicts = tasks::all_verdicts();
    trials.push_back(
        failed(added.choice, verdicts[static_cast<std::size_t>(trial) % verdicts.size()]));
  }
  const auto lines = surface_lines(response_surface(trials, shapes));
  EXPECT_LE(lines.size(), 12U);
  EXPECT_THAT(lines, Each(SizeIs(testing::Le(400U))));
  EXPECT_THAT(lines, testing::Contains("and 34 more shapes"));
}

TEST(ResponseSurface, GoesToJson) {
  const nlohmann::json json = response_surface(sample_trials(), {"n=1000", "n=50000017"});
  EXPECT_EQ(json.at("tried"), 10);
  EXPECT_EQ(json.at("failed").at("over_limit"), 2);
  EXPECT_EQ(json.at("overall").at("best").at("parameters").at("BLOCK"), 256);
  EXPECT_EQ(json.at("shapes").at(1).at("shape"), "n=50000017");
  EXPECT_EQ(json.at("shapes").at(1).at("best").at("parameters").at("BLOCK"), 512);
  EXPECT_EQ(json.at("parameters").at(0).at("best_by_shape"), nlohmann::json({256, 512}));
  EXPECT_THAT(json.dump(), Not(HasSubstr("null")));
}

} // namespace
} // namespace winnow::search
