#include "profiling/statistics/distributions.h"

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

TEST(Distributions, AgreeWithTables) {
  EXPECT_NEAR(student_upper_tail(12.706, 1), 0.025, 1e-6);
  EXPECT_NEAR(student_upper_tail(2.228, 10), 0.025, 1e-5);
  EXPECT_NEAR(student_upper_tail(-1.812, 10), 0.95, 1e-4);
  EXPECT_NEAR(student_upper_tail(1.95996, 1e6), 0.025, 1e-6);
  EXPECT_NEAR(normal_upper_tail(2.575829), 0.005, 1e-8);
  EXPECT_DOUBLE_EQ(student_upper_tail(0, 3), 0.5);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.228, 1e-3);
}

TEST(Distributions, BetaOfWholeNumbersIsABinomialTail) {
  // I_x(j, n - j + 1) = P(Bin(n, x) >= j): n = 4, j = 3, x = 1/2.
  EXPECT_NEAR(regularized_beta(0.5, 3, 2), 5.0 / 16, 1e-12);
  EXPECT_NEAR(regularized_beta(0.3, 1, 1), 0.3, 1e-12);
  EXPECT_EQ(regularized_beta(-1, 2, 2), 0);
  EXPECT_EQ(regularized_beta(2, 2, 2), 1);
}

} // namespace
} // namespace winnow::profiling
