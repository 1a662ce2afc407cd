#include "tasks/plan/plan_test_support.h"
#include "tasks/plan/resolve/occupancy.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

struct Use {
  int registers;
  std::int64_t threads;
  std::int64_t dynamic_shared_bytes;
  int static_shared_bytes;
  std::int64_t blocks; ///< from CUDA's calculator for an H100
};

KernelResources resources(const Use& use) {
  KernelResources kernel;
  kernel.registers = use.registers;
  kernel.static_shared_bytes = use.static_shared_bytes;
  return kernel;
}

class Occupancy : public testing::TestWithParam<Use> {};

TEST_P(Occupancy, IsThatOfTheCudaCalculator) {
  const Use& use = GetParam();
  EXPECT_EQ(
      resident_blocks_per_sm(hopper_facts(), resources(use), use.threads, use.dynamic_shared_bytes),
      use.blocks);
}

INSTANTIATE_TEST_SUITE_P(H100, Occupancy,
                         testing::Values(Use{32, 256, 0, 0, 8},  // threads and registers
                                         Use{16, 32, 0, 0, 32},  // limited by blocks
                                         Use{16, 33, 0, 0, 32},  // two warps
                                         Use{0, 1024, 0, 0, 2},  // threads
                                         Use{64, 1024, 0, 0, 1}, // registers
                                         Use{65, 1024, 0, 0, 0}, // registers are rounded up to 72
                                         Use{128, 128, 0, 0, 4}, //
                                         Use{168, 128, 0, 0, 3}, // three warps in each partition
                                         Use{168, 96, 0, 0, 4},  //
                                         Use{255, 256, 0, 0, 1}, //
                                         Use{32, 128, 102400, 0, 2}, // shared memory
                                         Use{32, 128, 0, 24576, 9},  // 1 KiB per block is reserved
                                         Use{32, 128, 76800, 0, 3},  //
                                         Use{32, 128, 76801, 0, 2},  // rounded up to 128 bytes
                                         Use{32, 128, 232448, 0, 1}, //
                                         Use{32, 128, 232448, 1, 0}, //
                                         Use{32, 2048, 0, 0, 0}));   // no block fits

TEST(OccupancyOfOtherDevices, IsNotKnown) {
  const KernelResources kernel = resources({32, 256, 0, 0, 0});
  EXPECT_EQ(resident_blocks_per_sm(DeviceFacts(), kernel, 256, 0), 0);
  EXPECT_EQ(registers_of_block(DeviceFacts(), kernel, 256), std::nullopt);
  for (const char* architecture : {"gfx90a", "sm_", "sm_35", "sm_400", ""}) {
    DeviceFacts facts = hopper_facts();
    facts.architecture = architecture;
    EXPECT_EQ(resident_blocks_per_sm(facts, kernel, 256, 0), 0) << architecture;
  }
}

TEST(OccupancyOfOtherDevices, FollowsTheArchitecture) {
  DeviceFacts volta = hopper_facts();
  volta.architecture = "sm_70";
  volta.max_shared_bytes = 98304;
  volta.shared_bytes_per_sm = 98304;
  volta.reserved_shared_bytes = 0;
  const KernelResources kernel = resources({32, 128, 0, 0, 0});
  EXPECT_EQ(resident_blocks_per_sm(volta, kernel, 128, 10800), 8); // rounded up to 256 bytes
  volta.architecture = "sm_80";
  EXPECT_EQ(resident_blocks_per_sm(volta, kernel, 128, 10800), 9); // rounded up to 128 bytes
}

TEST(OccupancyOfOtherDevices, CountsTheRegistersOfABlock) {
  // The rule counts three warps as four, one in each partition.
  EXPECT_EQ(registers_of_block(hopper_facts(), resources({40, 0, 0, 0, 0}), 96), 40 * 32 * 4);
  EXPECT_EQ(registers_of_block(hopper_facts(), resources({33, 0, 0, 0, 0}), 128), 40 * 32 * 4);
}

} // namespace
} // namespace winnow::tasks
