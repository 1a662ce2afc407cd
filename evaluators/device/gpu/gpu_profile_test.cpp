#include "evaluators/device/gpu/gpu_device_test.h"
#include "evaluators/device/gpu/gpu_profile.h"

#include <algorithm>
#include <cmath>

namespace winnow::evaluators {
namespace {

using profiling::CounterReport;
using profiling::CounterSet;
using testing::HasSubstr;
using testing::StartsWith;

/// Counts in `passes` passes. Every counter has the value `value`.
class FakeCounters final : public profiling::CounterProvider {
public:
  explicit FakeCounters(int passes) : passes_(passes) {}

  Availability availability() const override { return Availability::yes("fake"); }
  std::vector<CounterReport> collect_all(CounterSet /*set*/,
                                         std::span<const profiling::CountedRun> runs) override {
    CounterReport report;
    report.provider = "fake";
    for (; report.passes < passes_; ++report.passes) {
      for (const profiling::CountedRun& run : runs) {
        run.restore();
        run.launch();
      }
    }
    report.counters["dram_read_bytes"].value = 42;
    return {runs.size(), report};
  }

private:
  int passes_;
};

/// Reports the energy at constant power. The energy changes every 20 ms of the given clock.
class FakeMonitor final : public profiling::GpuMonitor {
public:
  explicit FakeMonitor(const double& now_s) : now_s_(now_s) {}

  profiling::GpuState state() override {
    profiling::GpuState state;
    state.sm_clock_mhz = 1980;
    return state;
  }
  std::optional<double> energy_mj() override {
    ++readings;
    constexpr double kStepSeconds = 0.02;
    return watts * 1000 * kStepSeconds * std::floor(now_s_ / kStepSeconds);
  }
  std::optional<double> power_w() override { return watts; }

  double watts = 400;
  int readings = 0;

private:
  const double& now_s_;
};

class GpuCountTest : public GpuDeviceTest {
protected:
  void SetUp() override {
    add_kernel("k", host_kernel(+[](float* out) { out[0] += 1; }));
    steps = {launch_of("k", {pointer_argument("y")})};
    device_options.open_counters = [this] {
      ++opened;
      return std::make_unique<FakeCounters>(3);
    };
  }

  CounterReport count() {
    return device->count(steps, CounterSet::Full, [this] {
      ++restored;
      device->fill_pattern(y, 0);
    });
  }

  std::vector<tasks::Step> steps;
  std::size_t y = 0;
  int opened = 0;
  int restored = 0;
};

TEST_F(GpuCountTest, RestoresAndLaunchesOnceAPass) {
  open();
  y = floats("y", {7});
  driver->calls.clear();
  const CounterReport report = count();
  EXPECT_EQ(report.unavailable, "");
  EXPECT_EQ(report.passes, 3);
  EXPECT_EQ(report.value("dram_read_bytes"), 42);
  EXPECT_EQ(driver->count("launch k"), 3U);
  EXPECT_EQ(driver->count("launch winnow_read_all"), 3U) << "each pass finds an empty cache";
  EXPECT_EQ(driver->count("launch_graph"), 0U);
  EXPECT_EQ(restored, 4) << "before each pass, and at the end";
  EXPECT_EQ(contents<float>(y, 1)[0], 0);
}

TEST_F(GpuCountTest, CountsSeveralRunsInAPassAndSelectsEachBeforeItIsRestored) {
  open();
  y = floats("y", {7});
  std::string order;
  const auto run = [&](const std::string& name) {
    return CountedSteps{&steps, [&order, name] { order += " select " + name; },
                        [this, &order, name] {
                          order += " restore " + name;
                          device->fill_pattern(y, 0);
                        }};
  };
  const std::vector<CountedSteps> runs = {run("a"), run("b")};
  const auto reports = device->count_all(runs, CounterSet::Fast);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[1].value("dram_read_bytes"), 42);
  EXPECT_EQ(driver->count("launch k"), 6U) << "three passes of two runs";
  const std::string pass = " select a restore a select b restore b";
  EXPECT_EQ(order, " select a select b" + pass + pass + pass + pass)
      << "a check of the steps, three passes, and at the end";
}

TEST_F(GpuCountTest, WaitsForRestoringBeforeThePassBegins) {
  open();
  y = floats("y", {7});
  count();
  driver->calls.clear();
  count();
  std::vector<std::string> pass(driver->calls.begin(), driver->calls.begin() + 6);
  EXPECT_EQ(pass, (std::vector<std::string>{"launch winnow_fill", "reset_persisting_cache",
                                            "launch winnow_read_all", "idle", "launch k", "idle"}));
}

TEST_F(GpuCountTest, OpensCountersOnceAndNotBeforeTheyAreAskedFor) {
  open();
  y = floats("y", {7});
  EXPECT_FALSE(device->run_timed(steps).has_value());
  EXPECT_EQ(opened, 0);
  count();
  count();
  EXPECT_EQ(opened, 1);
}

TEST_F(GpuCountTest, SaysWhyThereAreNone) {
  device_options.open_counters = {};
  open();
  y = floats("y", {7});
  EXPECT_EQ(count().unavailable, "this device has no counters");
  EXPECT_EQ(driver->count("launch k"), 0U);
}

TEST_F(GpuCountTest, ReportsAKernelThatFails) {
  open();
  y = floats("y", {7});
  driver->failures.emplace("launch", GpuError("cuLaunchKernelEx", "CUDA_ERROR_INVALID_VALUE", "",
                                              GpuFailure::InvalidLaunch, false));
  EXPECT_THAT(count().unavailable,
              StartsWith("the kernel failed while it was counted: kernel 'k' (grid"));
  EXPECT_TRUE(device->usable());
  EXPECT_EQ(count().unavailable, "");
}

TEST_F(GpuCountTest, LeavesTheDeviceUnusableAfterAFault) {
  open();
  y = floats("y", {7});
  count(); // idle() works so far
  driver->failures.emplace("idle", GpuError("cuStreamQuery", "CUDA_ERROR_ILLEGAL_ADDRESS", "",
                                            GpuFailure::IllegalAddress, true));
  const CounterReport report = count();
  EXPECT_THAT(report.unavailable, StartsWith("the kernel failed while it was counted: "));
  EXPECT_THAT(report.unavailable, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_TRUE(report.counters.empty());
  EXPECT_FALSE(device->usable());
  EXPECT_THROW(device->verify_guards(), Error);
}

TEST_F(GpuCountTest, ReportsWhatRestoringMeets) {
  open();
  y = floats("y", {7});
  driver->failures.emplace("launch", GpuError("cuLaunchKernelEx", "CUDA_ERROR_ECC_UNCORRECTABLE",
                                              "", GpuFailure::DeviceLost, true));
  const CounterReport report = device->count(steps, CounterSet::Fast, [this] {
    device->fill_pattern(y, 0); // the first launch at all
  });
  EXPECT_THAT(report.unavailable, HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE"));
  EXPECT_FALSE(device->usable());
}

TEST_F(GpuCountTest, RefusesStepsThatWriteInputs) {
  open();
  floats("x", {1}, true);
  tasks::FillStep fill;
  fill.buffer = "x";
  fill.count = 1;
  const CounterReport report = device->count({fill}, CounterSet::Fast, [] {});
  EXPECT_THAT(report.unavailable, HasSubstr("a fill step writes input 'x'"));
  EXPECT_EQ(opened, 0);
}

class GpuStateTest : public GpuDeviceTest {
protected:
  void SetUp() override {
    add_kernel("k", host_kernel(+[](float* out) { out[0] += 1; }));
    steps = {launch_of("k", {pointer_argument("y")})};
  }
  std::vector<tasks::Step> steps;
  double now_s = 0;
};

TEST_F(GpuStateTest, ComesFromTheMonitorOpenedOnce) {
  int opened = 0;
  device_options.open_monitor = [&] {
    ++opened;
    return profiling::OpenedMonitor{std::make_unique<FakeMonitor>(now_s),
                                    Availability::yes("fake")};
  };
  open();
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(device->state().sm_clock_mhz, 1980);
  EXPECT_EQ(device->state().temperature_c, std::nullopt);
  EXPECT_EQ(opened, 1);
}

TEST_F(GpuStateTest, IsEmptyWithoutAMonitor) {
  open(); // the fake driver has no UUID
  EXPECT_EQ(device->state().sm_clock_mhz, std::nullopt);
  EXPECT_EQ(device->state().throttle_reasons, std::nullopt);
  floats("y", {0});
  const profiling::Energy energy = device->energy(steps);
  EXPECT_EQ(energy.joules_per_launch, std::nullopt);
  EXPECT_EQ(energy.reason, "the driver does not tell the UUID of this GPU");
  EXPECT_EQ(driver->count("launch k"), 0U);
}

TEST_F(GpuStateTest, EnergyReportsAKernelThatFails) {
  device_options.open_monitor = [&] {
    return profiling::OpenedMonitor{std::make_unique<FakeMonitor>(now_s),
                                    Availability::yes("fake")};
  };
  open();
  floats("y", {0});
  driver->failures.emplace(
      "launch", GpuError("cuLaunchKernelEx", "CUDA_ERROR_ASSERT", "", GpuFailure::Assertion, true));
  const profiling::Energy energy = device->energy(steps);
  EXPECT_THAT(energy.reason,
              StartsWith("the kernel failed while it was launched repeatedly: kernel 'k'"));
  EXPECT_FALSE(device->usable());
}

/// Launches that take 1 ms each. Only they advance the clock.
class GpuEnergyTest : public testing::Test {
protected:
  gpu::RepeatedLaunch launch_of(std::chrono::nanoseconds said) {
    gpu::RepeatedLaunch launch;
    launch.queue = [this] {
      ++queued;
      most_queued = std::max(most_queued, queued);
    };
    launch.wait = [this] {
      now_s += 1e-3 * queued;
      launched += queued;
      queued = 0;
    };
    launch.time = said;
    launch.now_s = [this] { return now_s; };
    return launch;
  }

  double now_s = 100;
  int queued = 0, most_queued = 0, launched = 0;
};

TEST_F(GpuEnergyTest, IsThatOfTheBoardWhileLaunchesRun) {
  FakeMonitor monitor(now_s);
  const auto readings = gpu::read_energy(monitor, launch_of(std::chrono::milliseconds(1)));
  EXPECT_EQ(readings.launches, launched);
  EXPECT_NEAR(readings.end_s - readings.begin_s, profiling::kEnergySeconds, 0.011);
  EXPECT_LE(most_queued, 10) << "10 ms";
  const profiling::Energy energy = profiling::energy_of(readings);
  EXPECT_EQ(energy.reason, "");
  EXPECT_NEAR(energy.joules_per_launch.value_or(0), 0.4, 0.02) << "400 W for 1 ms";
  EXPECT_NEAR(energy.average_power_w.value_or(0), 400, 20);
}

TEST_F(GpuEnergyTest, ReadsOftenEnoughToSeeTheCounterStep) {
  FakeMonitor monitor(now_s);
  const auto readings = gpu::read_energy(monitor, launch_of(std::chrono::milliseconds(1)));
  EXPECT_GE(monitor.readings, 40);
  EXPECT_LE(readings.energy_mj.front().at_s, readings.begin_s);
  EXPECT_GE(readings.energy_mj.back().at_s, readings.end_s);
}

TEST_F(GpuEnergyTest, LaunchesSlowKernelsOnceAndFastOnesNotTooOften) {
  FakeMonitor monitor(now_s);
  gpu::read_energy(monitor, launch_of(std::chrono::seconds(3)));
  EXPECT_EQ(most_queued, 1);
  gpu::read_energy(monitor, launch_of(std::chrono::nanoseconds(1500)));
  EXPECT_EQ(most_queued, 512) << "drivers queue about a thousand";
  gpu::read_energy(monitor, launch_of(std::chrono::nanoseconds(0)));
  EXPECT_EQ(most_queued, 512);
}

} // namespace
} // namespace winnow::evaluators
