#include "evaluators/timing/sampling.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

constexpr double kBudgetNs = 150e6;

TEST(Sampling, TakesTheMinimumEvenWhenTheBudgetIsSpent) {
  const SamplingRequest request;
  EXPECT_TRUE(more_samples(request, {}, 10 * kBudgetNs)) << "one sample is always taken";
  EXPECT_TRUE(more_samples(request, {1, 2, 3}, 2 * kBudgetNs));
  EXPECT_FALSE(more_samples(request, {1, 2, 3}, 4 * kBudgetNs)) << "slow kernels get fewer";
}

TEST(Sampling, StopsWhenTheSpreadIsSmallTheBudgetSpentOrTheLimitReached) {
  const SamplingRequest request;
  const std::vector<double> steady(20, 100.0);
  const std::vector<double> noisy{100, 140, 90, 120, 100, 150, 80, 100};
  EXPECT_FALSE(more_samples(request, steady, 0));
  EXPECT_TRUE(more_samples(request, noisy, kBudgetNs / 2));
  EXPECT_FALSE(more_samples(request, noisy, kBudgetNs));
  EXPECT_FALSE(more_samples(request, std::vector<double>(200, 1.0), 0));
}

TEST(Sampling, PhysicalFloorScalesWithBytesOperationsAndCores) {
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
