#include "profiling/statistics/sign_flip.h"
#include "profiling/statistics/testing/noise_fake.h"

#include <limits>

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

std::vector<double> wins_and_losses(int wins, int losses, int ties) {
  std::vector<double> differences(static_cast<std::size_t>(wins), 1);
  differences.insert(differences.end(), static_cast<std::size_t>(losses), -1);
  differences.insert(differences.end(), static_cast<std::size_t>(ties), 0);
  return differences;
}

TEST(SignFlip, OfWinsAndLossesIsTheTestOfMcNemar) {
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(6, 0, 0)), 2 / 64.0);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(5, 0, 4)), 2 / 32.0) << "ties say nothing";
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(3, 0, 3)), 2 / 8.0);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(8, 1, 0)), 2 * (1 + 9) / 512.0);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(1, 8, 0)), 2 * (1 + 9) / 512.0);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(wins_and_losses(3, 3, 1)), 1);
}

TEST(SignFlip, CountsTheSumsThatAreAsFarFromZero) {
  // Of the eight sums +-1 +-2 +-3, those of 6, 4, -4 and -6 are at least 4 from 0.
  EXPECT_DOUBLE_EQ(sign_flip_p_value(std::vector<double>{-1, 2, 3}), 4 / 8.0);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(std::vector<double>{0.1, 0.2, 0.3}), 2 / 8.0);
}

TEST(SignFlip, RandomChoicesComeNearToAllChoices) {
  // Binomial(20, 1/2): P(<= 4 or >= 16) = 2 * 6196 / 2^20.
  const std::vector<double> differences = wins_and_losses(16, 4, 0);
  EXPECT_NEAR(sign_flip_p_value(differences), 0.0118, 0.006);
  EXPECT_EQ(sign_flip_p_value(differences), sign_flip_p_value(differences));
  EXPECT_NE(sign_flip_p_value(differences), sign_flip_p_value(differences, 5));
  EXPECT_GT(sign_flip_p_value(wins_and_losses(200, 0, 0)), 0);
}

TEST(SignFlip, FindsDifferencesThatAreNoneAsSeldomAsItSays) {
  Dice dice(4);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto series_of_7 = series(7, [&] { return dice.normal() * (1 + dice.uniform()); });
    found += sign_flip_p_value(series_of_7) < 0.05 ? 1 : 0;
  }
  EXPECT_LE(found, 70); // 7 %
  EXPECT_GE(found, 25);
}

TEST(SignFlip, OfLittleOrNothing) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sign_flip_p_value({}), 1);
  EXPECT_EQ(sign_flip_p_value(std::vector<double>{kNoNumber, kEndless}), 1);
  EXPECT_EQ(sign_flip_p_value(std::vector<double>(30, 0.0)), 1);
  EXPECT_DOUBLE_EQ(sign_flip_p_value(std::vector<double>{1, 2, 3, 4, 5}), 2 / 32.0);
}

} // namespace
} // namespace winnow::profiling
