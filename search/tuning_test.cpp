#include "search/tuning.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::ParameterChoice;
using tasks::Verdict;
using testing::Each;
using testing::SizeIs;

std::vector<ParameterChoice> choices(std::int64_t count) {
  std::vector<ParameterChoice> made;
  for (std::int64_t i = 0; i < count; ++i) {
    made.push_back({{"P", i}});
  }
  return made;
}

/// Runs every heat. `speeds`: of a choice, by shape; empty: it fails.
template <typename Speeds> std::vector<Tuning::Heat> run(Tuning& tuning, Speeds speeds) {
  std::vector<Tuning::Heat> heats;
  while (const auto heat = tuning.next()) {
    tuning.begin(*heat);
    heats.push_back(*heat);
    std::vector<Trial> trials;
    for (const ParameterChoice& choice : heat->choices) {
      Trial& trial = trials.emplace_back(Trial{choice, Verdict::NotJudged, "", {}});
      trial.speeds = speeds(choice.at("P"));
      trial.verdict = trial.speeds.empty() ? Verdict::LaunchError : Verdict::NotJudged;
    }
    tuning.finish(trials, 1);
  }
  EXPECT_TRUE(tuning.is_over());
  return heats;
}

TEST(Tuning, FindsTheFastestChoiceInAnEighthOfTheLaunches) {
  Tuning tuning(choices(65), 0);
  const auto heats = run(tuning, [](std::int64_t p) {
    const double speed = 2 - std::abs(static_cast<double>(p) - 37) / 40;
    return std::vector<double>{speed, speed};
  });
  EXPECT_EQ(tuning.winner(), (ParameterChoice{{"P", 37}}));
  int launches = 0;
  for (const Tuning::Heat& heat : heats) {
    EXPECT_LE(heat.choices.size(), 8U);
    launches += heat.turns * static_cast<int>(heat.choices.size());
  }
  EXPECT_LE(launches, 64 * 12 / 8);
  EXPECT_THAT(tuning.trials(), SizeIs(65));
  EXPECT_THAT(tuning.trials().front().speeds, Each(1));
}

TEST(Tuning, AllHeatsOfAWaveCanRunAtOnce) {
  Tuning tuning(choices(128), 0);
  std::vector<Tuning::Heat> begun;
  while (const auto heat = tuning.next()) {
    tuning.begin(*heat);
    begun.push_back(*heat);
  }
  EXPECT_THAT(begun, SizeIs(2));
  EXPECT_FALSE(tuning.is_over());
  // The last one ends first.
  for (auto heat = begun.rbegin(); heat != begun.rend(); ++heat) {
    EXPECT_FALSE(tuning.next());
    std::vector<Trial> trials;
    for (const ParameterChoice& choice : heat->choices) {
      trials.push_back({choice, Verdict::NotJudged, "", {1.5}});
    }
    tuning.finish(trials, 1);
  }
  EXPECT_EQ(tuning.next()->turns, 3) << "a wave of promising choices";
}

// Three parameters, each with effects of its own, and one pair that does harm together.
TEST(Tuning, TriesWhatPromisesMostByThoseTried) {
  std::vector<ParameterChoice> all;
  for (std::int64_t i = 0; i < 4 * 4 * 4; ++i) {
    all.push_back({{"A", i / 16}, {"B", i / 4 % 4}, {"C", i % 4}});
  }
  Tuning tuning(all, 0);
  int launches = 0;
  while (const auto heat = tuning.next()) {
    tuning.begin(*heat);
    std::vector<Trial> trials;
    for (const ParameterChoice& choice : heat->choices) {
      const auto a = double(choice.at("A")), b = double(choice.at("B")), c = double(choice.at("C"));
      const double harm = a == 3 && b == 3 ? 0.7 : 1;
      const double speed = (1 + 0.2 * a) * (1 + 0.1 * b) * (1 - 0.05 * c) * harm;
      trials.push_back({choice, Verdict::NotJudged, "", {speed}});
    }
    tuning.finish(trials, 1);
    launches += heat->turns * static_cast<int>(heat->choices.size());
  }
  EXPECT_EQ(tuning.winner(), (ParameterChoice{{"A", 3}, {"B", 2}, {"C", 0}}));
  EXPECT_LE(launches, 64 * 12 / 8);
}

TEST(Tuning, KeepsTheBestChoiceOfEachShape) {
  Tuning tuning(choices(13), 0);
  const auto heats = run(tuning, [](std::int64_t p) {
    return p == 5 ? std::vector<double>{1.9, 0.1} : std::vector<double>{1, 1 + 0.01 * double(p)};
  });
  EXPECT_THAT(heats.back().choices, testing::Contains(ParameterChoice{{"P", 5}}));
  EXPECT_EQ(tuning.winner(), (ParameterChoice{{"P", 12}}));
}

TEST(Tuning, TheDefaultStaysUnlessAChoiceIsFasterBeyondNoise) {
  Tuning tuning(choices(3), 0);
  run(tuning, [](std::int64_t) { return std::vector<double>{1.01}; });
  EXPECT_FALSE(tuning.winner());
}

TEST(Tuning, ChoicesThatFailAreNotTimedAgain) {
  Tuning tuning(choices(9), 0);
  const auto heats = run(tuning, [](std::int64_t p) {
    return p > 4 ? std::vector<double>{} : std::vector<double>{1.0 + 0.1 * double(p)};
  });
  for (std::size_t i = 1; i < heats.size(); ++i) {
    for (const ParameterChoice& choice : heats[i].choices) {
      EXPECT_LE(choice.at("P"), 4);
    }
  }
  EXPECT_EQ(tuning.winner(), (ParameterChoice{{"P", 4}}));
  Tuning hopeless(choices(9), 0);
  run(hopeless, [](std::int64_t) { return std::vector<double>{}; });
  EXPECT_FALSE(hopeless.winner());
}

TEST(Tuning, AHeatThatTheMachineFailsBeginsAgainOnce) {
  Tuning tuning(choices(3), 0);
  const Tuning::Heat heat = tuning.next().value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(tuning.next(), heat);
    tuning.begin(heat);
    tuning.fail(heat);
  }
  EXPECT_TRUE(tuning.is_over());
  EXPECT_EQ(tuning.trials()[1].verdict, Verdict::Infrastructure);
  EXPECT_FALSE(tuning.winner());
}

TEST(Tuning, BeginsNoRungWhenItsTimeIsSpent) {
  Tuning tuning(choices(256), 3);
  const auto heats =
      run(tuning, [](std::int64_t p) { return std::vector<double>{1.0 + 0.01 * double(p)}; });
  EXPECT_THAT(heats, SizeIs(4)); // the spread sample; each heat took a second
  EXPECT_EQ(tuning.winner(), (ParameterChoice{{"P", 255}}));
}

} // namespace
} // namespace winnow::search
