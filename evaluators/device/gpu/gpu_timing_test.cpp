#include "evaluators/device/gpu/gpu_device_test.h"
#include "evaluators/device/gpu/gpu_timing.h"

#include <algorithm>
#include <set>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using Calls = std::vector<std::string>;

/// A device with a kernel that adds 1 to y[0]. `steps` launches the kernel.
class GpuTimingTest : public GpuDeviceTest {
protected:
  void SetUp() override {
    add_kernel("k", host_kernel(+[](float* out) { out[0] += 1; }));
    steps = {launch_of("k", {pointer_argument("y")})};
  }

  void open_with_buffer() {
    open();
    y = floats("y", {0, 8});
  }

  void time(CacheState caches = CacheState::Cold) {
    const auto fault = device->run_timed(steps, caches);
    EXPECT_FALSE(fault.has_value()) << fault->detail;
  }

  /// The driver calls of the next launch.
  Calls calls_of_timing(CacheState caches = CacheState::Cold) {
    driver->calls.clear();
    time(caches);
    return driver->calls;
  }

  /// Whether the stream was held for the last pair of marks.
  bool was_held() const {
    const auto mark = std::find(driver->calls.rbegin(), driver->calls.rend(), "mark 0");
    return driver->calls.rend() - mark > 2 && mark[2] == "launch winnow_hold";
  }

  std::vector<tasks::Step> steps;
  std::size_t y = 0;
};

Calls held(const std::string& launch) {
  return {"launch winnow_hold",
          "launch winnow_stamp_clock",
          "mark 0",
          launch,
          "mark 1",
          "launch winnow_stamp_clock",
          "let go",
          "idle",
          "between_marks"};
}

const Calls kHeldLaunch = held("launch k");

TEST_F(GpuTimingTest, LaunchesOneKernelWithoutAGraph) {
  open_with_buffer();
  time();
  Calls expected{"reset_persisting_cache", "launch winnow_read_all"};
  expected.insert(expected.end(), kHeldLaunch.begin(), kHeldLaunch.end());
  EXPECT_EQ(calls_of_timing(), expected);
  EXPECT_EQ(contents<float>(y, 1), (std::vector<float>{2}));
  device->release_buffers();
  EXPECT_EQ(driver->count("record"), 0U);
}

TEST_F(GpuTimingTest, TakesOffWhatMarksAreApartWithNothingBetweenThem) {
  driver->between_nothing = std::chrono::nanoseconds(300);
  open_with_buffer();
  time();
  EXPECT_EQ(device->elapsed().count(), 1000) << "a launch that is not held has more to it";
  time();
  EXPECT_EQ(device->elapsed().count(), 700);
  driver->between = std::chrono::nanoseconds(200);
  time();
  EXPECT_EQ(device->elapsed().count(), 1) << "a time is never nothing";
}

TEST_F(GpuTimingTest, LaunchesATurnOnOneStreamAndTurnsOnSeveral) {
  std::vector<std::size_t> streams;
  add_kernel("tell", {{}, [&](const auto&) { streams.push_back(driver->selected_stream); }});
  steps = {launch_of("tell", {})};
  driver->streams = 8;
  open_with_buffer();
  time();
  EXPECT_EQ(streams, std::vector<std::size_t>{0}) << "no turn has begun";
  for (int turn = 0; turn < 40; ++turn) {
    device->begin_turn();
    device->fill_pattern(y, 1); // like poisoning: queued, but not waited for
    time();
    device->fill_pattern(y, 2);
    time();
    ASSERT_EQ(streams.at(streams.size() - 1), streams.at(streams.size() - 2));
    EXPECT_EQ(driver->selected_stream, 0U);
  }
  EXPECT_GT(std::set<std::size_t>(streams.begin(), streams.end()).size(), 3U);
  EXPECT_EQ(driver->left_busy, 0U);
}

TEST_F(GpuTimingTest, GoesBackToTheFirstStreamWhateverFails) {
  driver->streams = 1000; // with so many, stream 0 is hardly ever drawn
  open_with_buffer();
  time();
  device->begin_turn();
  driver->failures.emplace("mark",
                           GpuError("call", "CUDA_ERROR_X", "", GpuFailure::InvalidLaunch, false));
  expect_fault(device->run_timed(steps), Verdict::LaunchError, "kernel 'k'");
  EXPECT_EQ(driver->selected_stream, 0U);
}

TEST_F(GpuTimingTest, LaunchesOneGraphWithAnEmptyCacheIntoAHeldStream) {
  open_with_buffer();
  tasks::FillStep fill;
  fill.buffer = "y";
  fill.offset_bytes = 4;
  fill.count = 1;
  steps.emplace_back(fill);
  time();
  EXPECT_EQ(device->elapsed().count(), 1000);
  EXPECT_EQ(contents<float>(y, 2), (std::vector<float>{1, 0}));
  Calls expected{"reset_persisting_cache", "launch winnow_read_all"};
  const Calls launch = held("launch_graph");
  expected.insert(expected.end(), launch.begin(), launch.end());
  EXPECT_EQ(calls_of_timing(), expected);
  EXPECT_EQ(contents<float>(y, 2), (std::vector<float>{2, 0}));
  device->release_buffers();
  EXPECT_EQ(driver->count("release_graph"), 1U);
}

TEST_F(GpuTimingTest, LeavesTheCacheForWarmLaunches) {
  open_with_buffer();
  time();
  EXPECT_EQ(calls_of_timing(CacheState::Warm), kHeldLaunch);
}

// At the first launch the driver may have to prepare something, and wait for the stream to do that.
TEST_F(GpuTimingTest, DoesNotHoldTheFirstLaunch) {
  open_with_buffer();
  calls_of_timing();
  EXPECT_FALSE(was_held());
  EXPECT_FALSE(device->disturbed());
  calls_of_timing();
  EXPECT_TRUE(was_held());
  device->load_module(write(module_with({"k"})));
  calls_of_timing();
  EXPECT_FALSE(was_held());
}

TEST_F(GpuTimingTest, ReleasesTheStreamWhateverFails) {
  open_with_buffer();
  steps.push_back(steps.front());
  time();
  const GpuError refused("call", "CUDA_ERROR_X", "", GpuFailure::InvalidLaunch, false);
  for (const char* call : {"launch_graph", "mark"}) {
    driver->failures.emplace(call, refused);
    driver->calls.clear();
    expect_fault(device->run_timed(steps), Verdict::LaunchError, "a timed run of 2 steps");
    EXPECT_TRUE(was_held());
    EXPECT_FALSE(driver->holding()) << call;
    EXPECT_TRUE(device->usable());
  }
  time();
  const GpuError lost("call", "CUDA_ERROR_X", "", GpuFailure::DeviceLost, true);
  driver->failures.emplace("mark", lost);
  expect_fault(device->run_timed(steps), Verdict::Infrastructure, "a timed run of 2 steps");
  EXPECT_FALSE(driver->holding());
}

TEST_F(GpuTimingTest, SaysWhenTheHostWasTooSlow) {
  open_with_buffer();
  time();
  driver->host_is_slow = true;
  time();
  EXPECT_TRUE(device->disturbed());
  driver->host_is_slow = false;
  time();
  EXPECT_FALSE(device->disturbed());
  EXPECT_EQ(contents<float>(y, 1)[0], 3) << "a launch must not be repeated: it may add to outputs";
}

TEST_F(GpuTimingTest, HoldsNothingAnyMoreWhereTheHostIsAlwaysTooSlow) {
  open_with_buffer();
  time();
  driver->host_is_slow = true;
  for (int i = 0; i < 3; ++i) {
    time();
    EXPECT_TRUE(device->disturbed()) << i;
  }
  calls_of_timing();
  EXPECT_FALSE(was_held());
  EXPECT_FALSE(device->disturbed());
}

TEST_F(GpuTimingTest, TimesWithoutHoldingWhereNoMemoryIsMapped) {
  driver->maps_words = false;
  open_with_buffer();
  time();
  EXPECT_EQ(calls_of_timing(), (Calls{"reset_persisting_cache", "launch winnow_read_all", "mark 0",
                                      "launch k", "mark 1", "idle", "between_marks"}));
  EXPECT_EQ(device->measured_clock_mhz(), std::nullopt);
  EXPECT_FALSE(device->disturbed());
}

TEST_F(GpuTimingTest, MeasuresTheClockOfTheLastTimedRun) {
  driver->step_ns = 10'000;
  driver->step_cycles = 15'000;
  open_with_buffer();
  EXPECT_EQ(device->measured_clock_mhz(), std::nullopt) << "nothing was timed";
  time();
  ASSERT_TRUE(device->measured_clock_mhz().has_value());
  EXPECT_DOUBLE_EQ(*device->measured_clock_mhz(), 1500);
  EXPECT_DOUBLE_EQ(device->least_clock_mhz(), 1500) << "75 % of 2000 MHz";
  driver->step_cycles = 9'000;
  time();
  EXPECT_DOUBLE_EQ(device->measured_clock_mhz().value_or(0), 900);
  EXPECT_FALSE(device->run(steps).has_value());
  EXPECT_EQ(device->measured_clock_mhz(), std::nullopt) << "it belongs to a timed run";
}

TEST_F(GpuTimingTest, KnowsNoLeastClockWithoutAClockOfTheDevice) {
  driver->max_clock_mhz = 0;
  open_with_buffer();
  EXPECT_EQ(device->least_clock_mhz(), 0);
}

TEST_F(GpuTimingTest, ReportsWhatGoesWrong) {
  open_with_buffer();
  driver->failures.emplace("launch", GpuError("cuLaunchKernelEx", "CUDA_ERROR_INVALID_VALUE", "",
                                              GpuFailure::InvalidLaunch, false));
  expect_fault(device->run_timed(steps), Verdict::LaunchError, "kernel 'k'");
  EXPECT_FALSE(device->run_timed(steps).has_value());
  driver->failures.emplace("idle", GpuError("cuStreamQuery", "CUDA_ERROR_ILLEGAL_ADDRESS", "",
                                            GpuFailure::IllegalAddress, true));
  expect_fault(device->run_timed({steps[0], steps[0]}), Verdict::OutOfBounds,
               "a timed run of 2 steps");
  EXPECT_FALSE(device->usable());
}

TEST(GpuClock, IsCyclesOverTime) {
  const gpu::ClockStamp before{1'000'000, 500};
  EXPECT_DOUBLE_EQ(gpu::clock_mhz(before, {1'010'000, 18'500}, 32).value_or(0), 1800);
  EXPECT_DOUBLE_EQ(gpu::clock_mhz(before, {1'020'000, 20'500}, 1000).value_or(0), 1000);
}

TEST(GpuClock, IsNotKnownWhenTheErrorIsLarge) {
  const gpu::ClockStamp before{1'000'000, 500};
  const gpu::ClockStamp after{1'010'000, 18'500};
  EXPECT_TRUE(gpu::clock_mhz(before, after, 500).has_value());
  EXPECT_FALSE(gpu::clock_mhz(before, after, 501).has_value());
  EXPECT_FALSE(gpu::clock_mhz(before, after, 0).has_value()) << "the device has no time";
}

TEST(GpuClock, IsNotKnownWithoutTwoStamps) {
  const gpu::ClockStamp good{1'000'000, 500};
  EXPECT_FALSE(gpu::clock_mhz({}, good, 32).has_value());
  EXPECT_FALSE(gpu::clock_mhz(good, {}, 32).has_value());
  EXPECT_FALSE(gpu::clock_mhz(good, good, 32).has_value());
  EXPECT_FALSE(gpu::clock_mhz(good, {1'010'000, 500}, 32).has_value());
  EXPECT_FALSE(gpu::clock_mhz(good, {1'010'000, 499}, 32).has_value());
}

} // namespace
} // namespace winnow::evaluators
