#include "profiling/statistics/change_point.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

/// `size` noisy samples around 100, and around `level` from the index `from` on.
std::vector<double> samples_with(std::size_t size, std::size_t from, double level,
                                 unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> samples;
  for (std::size_t i = 0; i < size; ++i) {
    samples.push_back((i < from ? 100 : level) * noise(random));
  }
  return samples;
}

TEST(ChangePoint, OfAStepIsFound) {
  for (const double level : {70.0, 130.0}) {
    const ChangePoint change = change_point(samples_with(40, 28, level));
    EXPECT_NEAR(static_cast<double>(change.first), 28, 1);
    EXPECT_LT(change.p_value, 1e-3);
    EXPECT_NEAR(change.before, 100, 3);
    EXPECT_NEAR(change.after, level, 3);
  }
}

TEST(ChangePoint, OfNoiseIsRare) {
  int found = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    found += change_point(samples_with(40, 40, 100, seed)).p_value < 1e-3 ? 1 : 0;
  }
  EXPECT_LE(found, 6);
}

TEST(ChangePoint, OfEqualOrFewSamplesIsNone) {
  EXPECT_EQ(change_point(std::vector<double>(50, 3)).p_value, 1);
  EXPECT_EQ(change_point({}).p_value, 1);
  EXPECT_EQ(change_point(std::vector<double>{1}).p_value, 1);
  EXPECT_GT(change_point(std::vector<double>{1, 2, 9}).p_value, 0.1);
}

} // namespace
} // namespace winnow::profiling
