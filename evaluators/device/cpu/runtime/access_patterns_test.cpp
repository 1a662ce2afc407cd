#include "evaluators/device/cpu/runtime/access_patterns.h"

#include <gtest/gtest.h>

namespace winnow::evaluators::cpu {
namespace {

/// Lane i accesses `bytes` bytes at i * stride.
std::vector<LaneAccess> strided(std::uint64_t stride, std::uint8_t bytes, std::uint64_t start = 0) {
  std::vector<LaneAccess> access;
  for (std::uint8_t lane = 0; lane < 32; ++lane) {
    access.push_back({start + lane * stride, lane, bytes});
  }
  return access;
}

TEST(AccessPatterns, CountsBankConflicts) {
  EXPECT_EQ(shared_cost(strided(4, 4)).wavefronts, 1U);
  EXPECT_EQ(shared_cost(strided(8, 4)).wavefronts, 2U);
  EXPECT_EQ(shared_cost(strided(128, 4)).wavefronts, 32U);
  EXPECT_EQ(shared_cost(strided(132, 4)).wavefronts, 1U);
  EXPECT_EQ(shared_cost(strided(0, 4)).wavefronts, 1U); // all lanes read one word
  EXPECT_EQ(shared_cost(strided(2, 2)).wavefronts, 1U); // two lanes per word
  EXPECT_EQ(shared_cost(strided(128, 4)).ideal, 1U);
}

TEST(AccessPatterns, ServesWideAccessesByPartsOfAWarp) {
  EXPECT_EQ(shared_cost(strided(8, 8)).wavefronts, 2U);
  EXPECT_EQ(shared_cost(strided(8, 8)).ideal, 2U);
  EXPECT_EQ(shared_cost(strided(16, 16)).wavefronts, 4U);
  EXPECT_EQ(shared_cost(strided(16, 16)).ideal, 4U);
  EXPECT_EQ(shared_cost(strided(128, 16)).wavefronts, 32U);
  const std::vector<LaneAccess> quarter{{0, 3, 16}};
  EXPECT_EQ(shared_cost(quarter).ideal, 1U);
}

TEST(AccessPatterns, CountsSectors) {
  EXPECT_EQ(global_sectors(strided(4, 4)), 4U);
  EXPECT_EQ(global_sectors(strided(4, 4, 16)), 5U); // begins in the middle of a sector
  EXPECT_EQ(global_sectors(strided(16, 16)), 16U);
  EXPECT_EQ(global_sectors(strided(128, 4)), 32U);
  EXPECT_EQ(global_sectors(strided(0, 4)), 1U);
}

TEST(AccessPatterns, PutsVectorsTogether) {
  std::vector<LaneAccess> access = strided(16, 4);
  EXPECT_TRUE(extend_access(access, strided(16, 4, 4)));
  EXPECT_TRUE(extend_access(access, strided(16, 4, 8)));
  EXPECT_TRUE(extend_access(access, strided(16, 4, 12)));
  EXPECT_EQ(access[5].bytes, 16);
  EXPECT_EQ(shared_cost(access).wavefronts, 4U);
  EXPECT_FALSE(extend_access(access, strided(16, 4, 16))); // there are no wider vectors
}

TEST(AccessPatterns, LeavesNeighboursOfAStencilApart) {
  std::vector<LaneAccess> access = strided(4, 4);
  EXPECT_FALSE(extend_access(access, strided(4, 4, 4))); // odd lanes are not aligned to 8
}

TEST(AccessPatterns, LeavesWhatOtherLanesDoApart) {
  std::vector<LaneAccess> access = strided(16, 4);
  std::vector<LaneAccess> next = strided(16, 4, 4);
  next.pop_back();
  EXPECT_FALSE(extend_access(access, next));
  EXPECT_FALSE(extend_access(access, strided(16, 4, 8)));
}

} // namespace
} // namespace winnow::evaluators::cpu
