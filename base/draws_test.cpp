#include "base/draws.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace winnow {
namespace {

TEST(Draws, AreAFunctionOfTheSeedAndTheName) {
  EXPECT_EQ(Draws(1, "axpy 7").uniform(), Draws(1, "axpy 7").uniform());
  EXPECT_NE(Draws(1, "axpy 7").uniform(), Draws(2, "axpy 7").uniform());
  EXPECT_NE(Draws(1, "axpy 7").uniform(), Draws(1, "gemm 7").uniform());
  EXPECT_NE(Draws(1, "axpy 7").uniform(), Draws(1, "axpy 8").uniform());
}

TEST(Draws, AreEvenOverManyCalls) {
  std::array<int, 10> counts{};
  for (std::size_t call = 0; call < 10'000; ++call) {
    Draws draws(3, "axpy " + std::to_string(call));
    const double drawn = draws.uniform();
    ASSERT_GE(drawn, 0);
    ASSERT_LT(drawn, 1);
    ++counts.at(draws.index(counts.size()));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 1000, 150); // five standard deviations
  }
}

TEST(Draws, OneThingIsAlwaysTheFirst) {
  EXPECT_EQ(Draws(1, "axpy 0").index(1), 0U);
}

} // namespace
} // namespace winnow
