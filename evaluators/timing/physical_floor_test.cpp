#include "evaluators/timing/physical_floor.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

TEST(PhysicalFloor, ScalesWithBytesOperationsAndCores) {
  tasks::DeviceFacts cpu;
  EXPECT_DOUBLE_EQ(physical_floor_ns(768, 0, cpu), 1.0);
  EXPECT_DOUBLE_EQ(physical_floor_ns(768, 3840, cpu), 10.0);
  cpu.sm_count = 2;
  EXPECT_DOUBLE_EQ(physical_floor_ns(768, 0, cpu), 0.5);
  tasks::DeviceFacts gpu;
  gpu.peak_bytes_per_second = 4e12;
  EXPECT_DOUBLE_EQ(physical_floor_ns(12e6, 0, gpu), 1000.0);
  gpu.sm_count = 100;
  EXPECT_DOUBLE_EQ(physical_floor_ns(0, 40960e3 * 100, gpu), 1000.0);
}

} // namespace
} // namespace winnow::evaluators
