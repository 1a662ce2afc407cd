#include "harness/run/prompts/lesson_book.h"

#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

TEST(LikenessOfCells, CountsCommonPartsAndTheLimiterMost) {
  const std::string cell =
      "2 kernels, tensor cores, occupancy from 50 %, limited by DRAM bandwidth";
  EXPECT_EQ(likeness_of_cells(cell, cell), 3 + kLimiterParts);
  EXPECT_EQ(likeness_of_cells(cell, "limited by DRAM bandwidth"), kLimiterParts);
  EXPECT_EQ(likeness_of_cells(cell, "tensor cores, limited by latency"), 1);
  EXPECT_EQ(likeness_of_cells(cell, "plain"), 0);
  EXPECT_EQ(likeness_of_cells("", ""), 0);
}

} // namespace
} // namespace winnow::harness
