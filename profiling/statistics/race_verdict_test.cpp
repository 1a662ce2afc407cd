#include "profiling/statistics/race_verdict.h"

#include <limits>

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

RaceVerdict verdict(double low, double high, bool given_up = false) {
  return race_verdict({low, high}, kTieMargin, given_up);
}

TEST(RaceVerdict, SaysNoMoreThanTheInterval) {
  EXPECT_EQ(verdict(1.001, 1.2), RaceVerdict::Faster);
  EXPECT_EQ(verdict(0.7, 0.999), RaceVerdict::Slower);
  EXPECT_EQ(verdict(0.996, 1.004), RaceVerdict::Tie);
  EXPECT_EQ(verdict(1.001, 1.004), RaceVerdict::Tie) << "so small a gain does not count";
  for (const bool given_up : {false, true}) {
    EXPECT_EQ(verdict(1, 1.2, given_up), verdict(0.724, 1.097, given_up));
    EXPECT_EQ(verdict(1.001, 1.2, given_up), RaceVerdict::Faster);
    EXPECT_EQ(verdict(0.7, 0.999, given_up), RaceVerdict::Slower);
  }
  EXPECT_EQ(verdict(0.724, 1.097), RaceVerdict::Undecided);
  EXPECT_EQ(verdict(0.724, 1.097, true), RaceVerdict::NotFaster);
  EXPECT_EQ(verdict(0, std::numeric_limits<double>::infinity(), true), RaceVerdict::NotFaster);
}

TEST(RaceVerdict, HasAWordForEach) {
  EXPECT_EQ(to_string(RaceVerdict::NotFaster), "not shown to be faster");
  EXPECT_EQ(to_string(RaceVerdict::Undecided), "undecided");
}

} // namespace
} // namespace winnow::profiling
