// Tests times, clocks, counters and energy on a real device.
#include "evaluators/device/cuda/cuda_gpu_test.h"

#include <algorithm>
#include <cstdio>

#include <gtest/gtest.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

// A kernel that is busy for `cycles` of its multiprocessor's clock.
constexpr const char* kBusy = "__global__ void busy(long long cycles, int* y) {\n"
                              "  const long long start = clock64();\n"
                              "  while (clock64() - start < cycles) {}\n"
                              "  if (threadIdx.x == 0 && blockIdx.x == 0) y[0] += 1;\n}";
constexpr const char* kCopy = "__global__ void copy(const float4* x, float4* y, int n) {\n"
                              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "  if (i < n) y[i] = x[i];\n}";

class CudaTimingTest : public CudaGpuTest {
protected:
  void open_busy(std::int64_t cycles) {
    device = open(kBusy, {"busy"});
    y = put(*device, "y", std::vector<int>(1, 0));
    steps = {step("busy", 1, 32, {integer(cycles, 8), pointer("y")})};
  }

  void open_copy(std::int64_t bytes) {
    device = open(kCopy, {"copy"});
    device->allocate("x", static_cast<std::size_t>(bytes), true);
    y = device->allocate("y", static_cast<std::size_t>(bytes), false);
    steps = {step("copy", (bytes / 16 + 255) / 256, 256,
                  {pointer("x"), pointer("y"), integer(bytes / 16)})};
  }

  /// Sorted times in us. Disturbed launches are repeated.
  std::vector<double> times(std::size_t count, CacheState caches = CacheState::Cold) {
    std::vector<double> samples;
    for (int launches = 0; samples.size() < count && launches < 1000; ++launches) {
      EXPECT_EQ(text_of(device->run_timed(steps, caches)), "no fault");
      if (launches >= kWarmUps && !device->disturbed()) {
        samples.push_back(static_cast<double>(device->elapsed().count()) * 1e-3);
      }
    }
    EXPECT_EQ(samples.size(), count) << "almost every launch was disturbed";
    std::sort(samples.begin(), samples.end());
    return samples;
  }

  static constexpr int kWarmUps = 5;
  std::unique_ptr<Device> device;
  std::vector<tasks::Step> steps;
  std::size_t y = 0;
};

double median(const std::vector<double>& sorted) {
  return sorted.at(sorted.size() / 2);
}

TEST_F(CudaTimingTest, RepeatsTheTimeOfAShortKernel) {
  open_busy(9000); // about 5 us
  const double first = median(times(20));
  const double second = median(times(20));
  std::printf("%.2f and %.2f us\n", first, second);
  EXPECT_GT(first, 2);
  EXPECT_LT(first, 30) << "launching seems to be part of it";
  EXPECT_NEAR(second / first, 1, 0.1);
}

TEST_F(CudaTimingTest, HasLittleOfItsOwnInATime) {
  open_busy(0);
  const double nothing = median(times(20));
  std::printf("%.2f us for a kernel that does nothing\n", nothing);
  EXPECT_GT(nothing, 0);
  EXPECT_LT(nothing, 10);
}

TEST_F(CudaTimingTest, LaunchesExactlyOnceEachTime) {
  open_busy(1000);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(text_of(device->run_timed(steps, i % 2 == 0 ? CacheState::Cold : CacheState::Warm)),
              "no fault");
  }
  EXPECT_EQ(get<int>(*device, y, 1)[0], 50);
}

TEST_F(CudaTimingTest, MeasuresTheMultiprocessorsClock) {
  open_busy(2'000'000); // about 1 ms
  EXPECT_EQ(device->measured_clock_mhz(), std::nullopt);
  const double us = median(times(10));
  const auto clock = device->measured_clock_mhz();
  ASSERT_TRUE(clock.has_value());
  std::printf("%.0f MHz; %.0f MHz are the least that counts\n", *clock, device->least_clock_mhz());
  EXPECT_GT(*clock, 300);
  EXPECT_LT(*clock, 4000);
  // The kernel counts cycles of the same clock.
  EXPECT_NEAR(*clock, 2'000'000 / us, 0.1 * *clock);
  EXPECT_GT(device->least_clock_mhz(), 300);
  EXPECT_LT(device->least_clock_mhz(), 4000);
}

TEST_F(CudaTimingTest, WarmLaunchesFindTheirInputsInTheCache) {
  open_copy(probe_.facts.l2_bytes / 8);
  const double cold = median(times(20));
  const double warm = median(times(20, CacheState::Warm));
  std::printf("%.2f us cold, %.2f us warm\n", cold, warm);
  EXPECT_LT(warm, cold);
}

TEST_F(CudaTimingTest, TellsItsState) {
  open_busy(0);
  const profiling::GpuState state = device->state();
  if (!state.sm_clock_mhz) {
    GTEST_SKIP() << "no NVML here";
  }
  EXPECT_GT(*state.sm_clock_mhz, 100);
  EXPECT_LT(*state.sm_clock_mhz, 4000);
  EXPECT_GT(state.power_w.value_or(1), 0);
  EXPECT_LT(state.temperature_c.value_or(50), 120);
}

TEST_F(CudaTimingTest, TellsTheEnergyOfALaunchOrWhyNot) {
  open_busy(200'000); // about 0.1 ms
  const profiling::Energy energy = device->energy(steps);
  if (!energy.joules_per_launch) {
    EXPECT_NE(energy.reason, "");
    GTEST_SKIP() << energy.reason;
  }
  std::printf("%.4f J, %.0f W: %s\n", *energy.joules_per_launch, energy.average_power_w.value_or(0),
              energy.method.c_str());
  EXPECT_GT(*energy.joules_per_launch, 1e-4);
  EXPECT_LT(*energy.joules_per_launch, 1);
  EXPECT_GT(energy.average_power_w.value_or(0), 5);
  EXPECT_LT(energy.average_power_w.value_or(0), 3000);
}

TEST_F(CudaTimingTest, CountsTheBytesThatACopyReadsOrSaysWhyNot) {
  const std::int64_t bytes = 4 * probe_.facts.l2_bytes / 16 * 16;
  open_copy(bytes);
  int restored = 0;
  const profiling::CounterReport report =
      device->count(steps, profiling::CounterSet::Fast, [&] { ++restored; });
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(text_of(device->run_timed(steps)), "no fault");
  if (!report.unavailable.empty()) {
    GTEST_SKIP() << report.unavailable;
  }
  EXPECT_EQ(restored, report.passes + 1);
  const auto read = report.counters.find("dram_read_bytes");
  ASSERT_NE(read, report.counters.end());
  ASSERT_TRUE(read->second.value.has_value()) << read->second.reason;
  std::printf("%.1f MB read of %.1f, %d passes, %.0f ms to set up, %.0f ms to count\n",
              *read->second.value * 1e-6, static_cast<double>(bytes) * 1e-6, report.passes,
              report.setup_ms, report.collect_ms);
  EXPECT_NEAR(*read->second.value / static_cast<double>(bytes), 1, 0.15);
}

TEST_F(CudaTimingTest, CountsRunsOfDifferentSizesInOnePassEachForItself) {
  const std::int64_t bytes = 4 * probe_.facts.l2_bytes / 16 * 16;
  open_copy(bytes);
  std::vector<tasks::Step> half = steps;
  auto& launch = std::get<tasks::LaunchStep>(half.front());
  launch.grid[0] /= 2; // the kernel copies an element a thread
  const auto nothing = [] {};
  const profiling::CounterReport one = device->count(steps, profiling::CounterSet::Fast, nothing);
  if (!one.unavailable.empty()) {
    GTEST_SKIP() << one.unavailable;
  }
  const std::vector<CountedSteps> runs = {
      {&steps, nothing, nothing}, {&half, nothing, nothing}, {&steps, nothing, nothing}};
  const auto reports = device->count_all(runs, profiling::CounterSet::Fast);
  ASSERT_EQ(reports.size(), 3U);
  const std::vector<double> shares = {1, 0.5, 1};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto read = reports[i].value("dram_read_bytes");
    ASSERT_TRUE(read.has_value()) << reports[i].unavailable;
    EXPECT_NEAR(*read / static_cast<double>(bytes), shares[i], 0.15 * shares[i]) << i;
  }
  std::printf("%.1f ms for each of 3 runs\n", reports[0].collect_ms);
}

// Runs in a process of its own, because a fault destroys the context.
TEST_F(CudaTimingTest, AFaultWhileCountingIsReported) {
  const auto count_broken = [&] {
    device = open("__global__ void k(int* y) { *(volatile int*)16 = 1; }", {"k"});
    put(*device, "y", std::vector<int>(1, 0));
    steps = {step("k", 1, 1, {pointer("y")})};
    const profiling::CounterReport report =
        device->count(steps, profiling::CounterSet::Fast, [] {});
    std::fprintf(stderr, "%s: %s\n", device->usable() ? "not counted" : "counted",
                 report.unavailable.c_str());
    _exit(kFaultExitCode);
  };
  EXPECT_EXIT(count_broken(), testing::ExitedWithCode(kFaultExitCode),
              "not counted: .+|counted: the kernel failed while it was counted: kernel 'k'");
}

} // namespace
} // namespace winnow::evaluators
