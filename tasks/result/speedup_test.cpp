#include "tasks/result/speedup.h"

#include <cmath>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

TEST(MeanSpeedup, IsGeometric) {
  const Speedup mean = mean_speedup({{4, {3, 6}}, {9, {8, 10}}});
  EXPECT_NEAR(mean.value, 6, 1e-12);
  EXPECT_NEAR(mean.bounds.low, 6 / std::exp(std::hypot(std::log(4 / 3.0), std::log(9 / 8.0)) / 2),
              1e-12);
  EXPECT_NEAR(mean.bounds.high, 6 * std::exp(std::hypot(std::log(1.5), std::log(10 / 9.0)) / 2),
              1e-12);
}

TEST(MeanSpeedup, HasNoIntervalIfOneIsNotKnown) {
  const Speedup mean = mean_speedup({{4, {3, 6}}, {9, {}}});
  EXPECT_NEAR(mean.value, 6, 1e-12);
  EXPECT_FALSE(mean.bounds.known());
  EXPECT_FALSE(mean_speedup({{4, {0, 6}}}).bounds.known());
}

TEST(MeanSpeedup, OfNothingIsNotKnown) {
  EXPECT_EQ(mean_speedup({}).value, 0);
}

} // namespace
} // namespace winnow::tasks
