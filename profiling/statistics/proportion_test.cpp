#include "profiling/statistics/proportion.h"

#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

TEST(Proportion, AgreesWithPublishedIntervals) {
  // R. G. Newcombe, Statistics in Medicine 17, 857 (1998), table I, method 3.
  const auto expect = [](std::int64_t count, std::int64_t all, double low, double high) {
    const Proportion share = wilson_interval(count, all);
    EXPECT_NEAR(share.low, low, 5e-5) << count << " of " << all;
    EXPECT_NEAR(share.high, high, 5e-5) << count << " of " << all;
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0.0000, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
}

TEST(Proportion, OfNothingIsNotKnown) {
  const Proportion share = wilson_interval(0, 0);
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
}

} // namespace
} // namespace winnow::profiling
