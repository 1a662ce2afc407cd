#include "evaluators/timing/incumbent_speed.h"

#include <random>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A race of 40 turns in which the incumbent is `early` times as fast as the baseline, and `late`
/// times from the turn `from` on.
std::vector<tasks::CaseResult> race(double early, double late, int from, double noise = 0.01,
                                    unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(1, noise);
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  timed.shape_id = "search/0";
  for (int turn = 0; turn < 40; ++turn) {
    timed.baseline_samples_ns.push_back(10'000 * error(random));
    timed.samples_ns.push_back(5'000 * error(random));
    timed.incumbent_samples_ns.push_back(10'000 / (turn < from ? early : late) * error(random));
  }
  return {timed, timed};
}

const EarnedSpeed kTwice{2, {1.98, 2.02}};

TEST(WhyNotReproduced, TheSameSpeedCounts) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    EXPECT_THAT(why_not_reproduced(race(2, 2, 0, 0.01, seed), kTwice, "cuda"), IsEmpty());
  }
}

TEST(WhyNotReproduced, AnotherSpeedDoesNot) {
  EXPECT_THAT(why_not_reproduced(race(60, 60, 0), kTwice, "cuda"),
              HasSubstr("its speed over the baseline is "));
  EXPECT_THAT(why_not_reproduced(race(1.9, 1.9, 0), kTwice, "cuda"), HasSubstr("was 2x (1.98 to"));
  EXPECT_THAT(why_not_reproduced(race(1.9, 1.9, 0), kTwice, "cpu"), IsEmpty())
      << "a busy CPU repeats its times less well";
}

TEST(WhyNotReproduced, WithoutAnIntervalOnlyALargeDifferenceCounts) {
  EXPECT_THAT(why_not_reproduced(race(5, 5, 0), {2, {}}, "cuda"), IsEmpty());
  EXPECT_THAT(why_not_reproduced(race(0.7, 0.7, 0), {2, {}}, "cuda"), IsEmpty());
  EXPECT_THAT(why_not_reproduced(race(60, 60, 0), {2, {}}, "cuda"), HasSubstr("was 2x (0.5 to 8)"));
}

TEST(WhyNotReproduced, AChangeInTheMiddleDoesNot) {
  for (const int from : {10, 20, 30}) {
    for (const double late : {1.5, 60.0}) {
      EXPECT_THAT(why_not_reproduced(race(2, late, from), {}, "cuda"),
                  HasSubstr("search/0: its speed over the baseline changed from "));
    }
  }
}

TEST(WhyNotReproduced, WithoutSamplesOfBothNothingIsKnown) {
  auto timed = race(60, 60, 0);
  for (tasks::CaseResult& one : timed) {
    one.baseline_samples_ns.clear();
  }
  EXPECT_THAT(why_not_reproduced(timed, kTwice, "cuda"), IsEmpty());
  EXPECT_THAT(why_not_reproduced({}, kTwice, "cuda"), IsEmpty());
}

std::vector<tasks::CaseResult> race_of_two_launches(double speed) {
  auto timed = race(speed, speed, 0);
  for (tasks::CaseResult& one : timed) {
    for (auto* samples : {&one.samples_ns, &one.baseline_samples_ns, &one.incumbent_samples_ns}) {
      samples->resize(2);
    }
  }
  return timed;
}

TEST(WhyNotReproduced, OfAFewSamplesOnlyALargeDifferenceCounts) {
  for (const char* kind : {"cpu", "cuda"}) {
    EXPECT_THAT(why_not_reproduced(race_of_two_launches(60), kTwice, kind),
                HasSubstr("its speed over the baseline is "));
    EXPECT_THAT(why_not_reproduced(race_of_two_launches(5), kTwice, kind), IsEmpty());
    EXPECT_THAT(why_not_reproduced(race_of_two_launches(0.8), kTwice, kind), IsEmpty());
  }
}

} // namespace
} // namespace winnow::evaluators
