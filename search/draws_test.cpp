#include "search/draws.h"

#include <array>

#include <gtest/gtest.h>

namespace winnow::search {
namespace {

TEST(Draws, AreAFunctionOfTheSeedTheTaskAndTheCall) {
  EXPECT_EQ(Draws(1, "axpy", 7).next(), Draws(1, "axpy", 7).next());
  EXPECT_NE(Draws(1, "axpy", 7).next(), Draws(2, "axpy", 7).next());
  EXPECT_NE(Draws(1, "axpy", 7).next(), Draws(1, "gemm", 7).next());
  EXPECT_NE(Draws(1, "axpy", 7).next(), Draws(1, "axpy", 8).next());
}

TEST(Draws, AreEvenOverManyCalls) {
  std::array<int, 10> counts{};
  for (std::size_t call = 0; call < 10'000; ++call) {
    Draws draws(3, "axpy", call);
    const double drawn = draws.next();
    ASSERT_GE(drawn, 0);
    ASSERT_LT(drawn, 1);
    ++counts.at(draws.index(counts.size()));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 1000, 150); // five standard deviations
  }
}

TEST(Draws, OneThingIsAlwaysTheFirst) {
  EXPECT_EQ(Draws(1, "axpy", 0).index(1), 0U);
}

} // namespace
} // namespace winnow::search
