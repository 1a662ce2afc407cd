// Tests what a kernel can learn from timed launches, on the CPU device and on a device with perfect
// memory.
#include "evaluators/device/cpu/runtime/testing/test_modules.h"
#include "evaluators/worker/timed_runs.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <span>
#include <thread>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using tasks::Buffer;

constexpr std::int64_t kElements = 64;
constexpr std::uint64_t kBytes = kElements * sizeof(float);

class TimedRunsTest : public CpuDeviceTest {
protected:
  /// A case with x -> y by kernel `y[i] = 2 * x[i]`.
  void SetUp() override {
    CpuDeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    Buffer x, y;
    x.name = "x";
    x.count = y.count = kElements;
    y.name = "y";
    y.kind = Buffer::Kind::Output;
    case_.seed = 7;
    plan_.buffers = {x, y};
    plan_.steps = {launch_step("k", 1, kElements, {buffer_argument("x"), buffer_argument("y")})};
    case_.plan = plan_;
    case_.outputs = {{"y", 0, kBytes}};
    case_.sampling.emplace();
    case_.sampling->min_samples = case_.sampling->max_samples = 200;
    case_.sampling->budget = std::chrono::seconds(10);
    case_.sampling->areas = kAreas;
    case_.sampling->area_bytes = kBytes;
    device_ = make();
    use("y[i] = 2 * x[i];");
  }

  void use(const std::string& body, const std::string& before = {}) {
    device_->load_module(build_module(
        before +
            "extern \"C\" __global__ void k(const float* x, float* y) { int i = threadIdx.x; " +
            body + " }",
        {"k"}));
  }

  RunCaseReport time() {
    RunCaseReport report;
    report.fault = TimedRuns(*device_, case_, view_).run(report);
    return report;
  }

  std::vector<float> output(const TimedOutput& judged) {
    std::vector<float> values(kElements);
    const auto bytes = view_.slice(static_cast<std::uint64_t>(judged.area) * kBytes, kBytes);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  /// The answer that the judge computes.
  static std::vector<float> twice_x(std::uint64_t seed) {
    std::vector<float> values(kElements);
    tasks::generate_tensor({}, tasks::DType::F32, seed, "x", values.data(), values.size());
    for (float& value : values) {
      value *= 2;
    }
    return values;
  }

  static constexpr int kAreas = 12;
  tasks::ResolvedPlan plan_; ///< of case_
  RunCase case_;
  Arena arena_{kBytes * kAreas};
  ArenaView view_{arena_.fd()};
  std::unique_ptr<Device> device_;
};

TEST(LaunchSeed, ContestantsOfATurnHaveTheUpperHalfInCommon) {
  std::set<std::uint64_t> seeds, uppers;
  for (int launch = 0; launch < 20; ++launch) {
    for (std::size_t contestant = 0; contestant < 5; ++contestant) {
      const std::uint64_t seed = launch_seed(7, contestant, launch);
      EXPECT_EQ(seed >> 32U, launch_seed(7, 0, launch) >> 32U);
      seeds.insert(seed);
      uppers.insert(seed >> 32U);
    }
  }
  EXPECT_EQ(seeds.size(), 100U);
  EXPECT_EQ(uppers.size(), 20U);
  EXPECT_NE(launch_seed(7, 0, 0) >> 32U, launch_seed(8, 0, 0) >> 32U);
}

TEST_F(TimedRunsTest, OutputsOfSomeLaunchesAreHandedOver) {
  const RunCaseReport report = time();
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_EQ(report.samples_ns.size(), 200U);
  ASSERT_FALSE(report.timed_outputs.empty());
  for (const TimedOutput& judged : report.timed_outputs) {
    EXPECT_EQ(output(judged), twice_x(launch_seed(case_.seed, 0, judged.launch)));
  }
}

TEST_F(TimedRunsTest, EachLaunchTakesItsOwnComputedInputs) {
  plan_.buffers[0].generator.kind = tasks::GeneratorSpec::Kind::Reference;
  case_.plan = plan_;
  case_.computed = {{"x", 0, kBytes}};
  std::vector<std::uint64_t> seeds;
  RunCaseReport report;
  TimedRuns runs(*device_, case_, view_, [&](CaseRunner& runner, std::uint64_t seed) {
    seeds.push_back(seed);
    std::vector<float> x(kElements, static_cast<float>(seeds.size()));
    runner.upload("x", std::as_bytes(std::span(x)));
  });
  report.fault = runs.run(report);
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_EQ(std::set<std::uint64_t>(seeds.begin(), seeds.end()).size(), seeds.size());
  for (const TimedOutput& judged : report.timed_outputs) {
    const auto launch = static_cast<std::size_t>(judged.launch);
    EXPECT_EQ(seeds.at(launch), launch_seed(case_.seed, 0, judged.launch));
    EXPECT_EQ(output(judged).front(), 2 * static_cast<float>(launch + 1));
  }
}

TEST_F(TimedRunsTest, WhichLaunchesAreJudgedIsDrawnEachTime) {
  std::set<int> launches;
  std::size_t judged = 0;
  for (int i = 0; i < 20; ++i) {
    for (const TimedOutput& one : time().timed_outputs) {
      launches.insert(one.launch);
      ++judged;
    }
  }
  EXPECT_GT(judged, 50U) << "about five of each series";
  EXPECT_LT(judged, 200U);
  EXPECT_GT(launches.size(), judged / 2);
}

// Otherwise a kernel could be right in the launches that are judged, and cheap in the one or two
// that a slow machine leaves time for.
TEST_F(TimedRunsTest, OfAShortSeriesEveryTimedLaunchIsJudged) {
  case_.sampling->min_samples = case_.sampling->max_samples = 3;
  for (int i = 0; i < 20; ++i) {
    const RunCaseReport report = time();
    ASSERT_EQ(report.samples_ns.size(), 3U);
    std::set<int> judged;
    for (const TimedOutput& one : report.timed_outputs) {
      judged.insert(one.launch);
      EXPECT_EQ(output(one), twice_x(launch_seed(case_.seed, 0, one.launch)));
    }
    const int last = *judged.rbegin();
    EXPECT_TRUE(judged.contains(last - 1) && judged.contains(last - 2));
    EXPECT_EQ(last, report.warm_ups + report.discarded + 2);
  }
}

TEST_F(TimedRunsTest, TheLastLaunchesOfALongSeriesAreJudgedAsOftenAsTheFirst) {
  int late = 0;
  int judged = 0;
  for (int i = 0; i < 40; ++i) {
    const RunCaseReport report = time();
    for (const TimedOutput& one : report.timed_outputs) {
      late += one.launch >= report.warm_ups + report.discarded + 100 ? 1 : 0;
      EXPECT_GE(one.launch, report.warm_ups) << "a warm-up is judged only if nothing else is";
      ++judged;
    }
  }
  EXPECT_EQ(judged, 200);
  EXPECT_GT(late, 60);
  EXPECT_LT(late, 140);
}

TEST_F(TimedRunsTest, SomeLaunchIsAlwaysJudged) {
  case_.sampling->areas = 1;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(time().timed_outputs.size(), 1U);
  }
}

TEST_F(TimedRunsTest, AKernelThatWritesNothingIsFound) {
  use("if (i > 0) y[i] = 2 * x[i];");
  const std::vector<float> values = output(time().timed_outputs.front());
  EXPECT_TRUE(std::isnan(values[0])) << "what a launch before left is poisoned";
  EXPECT_FALSE(std::isnan(values[1]));
}

TEST_F(TimedRunsTest, AKernelThatIsRightOnlyAtFirstIsFound) {
  use("__syncthreads(); if (i == 0) ++calls; __syncthreads(); y[i] = calls == 1 ? 2 * x[i] : 0;",
      "__device__ int calls; ");
  const RunCaseReport report = time();
  EXPECT_TRUE(std::any_of(report.timed_outputs.begin(), report.timed_outputs.end(),
                          [&](const TimedOutput& judged) { return output(judged)[0] == 0; }));
}

TEST_F(TimedRunsTest, StaticInputsStayTheSame) {
  Buffer w;
  w.name = "w";
  w.count = kElements;
  w.is_static = true;
  plan_.buffers.push_back(w);
  plan_.steps = {launch_step("k", 1, kElements, {buffer_argument("w"), buffer_argument("y")})};
  case_.plan = plan_;
  const RunCaseReport report = time();
  std::vector<float> expected(kElements);
  tasks::generate_tensor({}, tasks::DType::F32, case_.seed, "w", expected.data(), expected.size());
  for (const TimedOutput& judged : report.timed_outputs) {
    EXPECT_EQ(output(judged)[3], 2 * expected[3]);
  }
}

/// A device whose kernel remembers everything. If the inputs equal those of an earlier launch, of
/// any contestant and at any address, the kernel has its answer in no time. A launch takes almost
/// no device time once it begins, as on a GPU, where the cache is emptied before.
class PerfectMemory : public Device {
public:
  void load_module(const std::filesystem::path& /*path*/) override {}
  std::size_t add_module(const std::filesystem::path& /*path*/) override { return 1; }
  void select_module(std::size_t /*module*/) override {}
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) override {
    buffers_.push_back({name, set_, read_only, std::vector<std::byte>(bytes)});
    return buffers_.size() - 1;
  }
  void select_buffers(std::size_t set, std::size_t shared) override {
    set_ = set;
    shared_ = shared;
  }
  void release_buffers() override { buffers_.clear(); }
  void upload(std::size_t /*buffer*/, std::span<const std::byte> /*bytes*/,
              std::size_t /*offset*/) override {}
  void download(std::size_t /*buffer*/, std::span<std::byte> /*bytes*/,
                std::size_t /*offset*/) override {}
  void fill_pattern(std::size_t /*buffer*/, std::uint64_t /*pattern*/) override {}
  void generate(std::size_t buffer, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed) override {
    FakeBuffer& drawn = buffers_.at(buffer);
    tasks::generate_tensor(generator, dtype, seed, drawn.name, drawn.bytes.data(),
                           drawn.bytes.size() / tasks::size_bytes(dtype));
  }
  void restore(std::size_t /*buffer*/) override {}
  std::optional<DeviceFault> run(const std::vector<tasks::Step>& /*steps*/) override {
    return std::nullopt;
  }
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& /*steps*/,
                                       CacheState /*caches*/) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
    while (std::chrono::steady_clock::now() < until) {
    }
    // The time varies from launch to launch.
    elapsed_ = std::chrono::nanoseconds(1000 + 300 * (++launches_ % 3));
    if (!remembered_.insert(inputs()).second) {
      ++found_;
      elapsed_ = std::chrono::nanoseconds(1);
    } else if (launched_at_.insert(shared_).second) {
      elapsed_ = kFirst;
    }
    return std::nullopt;
  }
  std::chrono::nanoseconds elapsed() const override { return elapsed_; }
  std::uint64_t checksum(std::size_t /*buffer*/) override { return 0; }
  std::optional<DeviceFault> verify_guards() override { return std::nullopt; }
  std::vector<CheckFinding> findings() override { return {}; }

  /// Time of the first launch with each set of tensors; a GPU does not hold the stream for it.
  static constexpr std::chrono::nanoseconds kFirst{2000};
  int launches() const { return launches_; }
  int found() const { return found_; } ///< launches whose inputs an earlier launch had
  std::size_t sets_of(const std::string& name) const {
    std::set<std::size_t> sets;
    for (const FakeBuffer& buffer : buffers_) {
      if (buffer.name == name) {
        sets.insert(buffer.set);
      }
    }
    return sets.size();
  }

private:
  struct FakeBuffer {
    std::string name;
    std::size_t set = 0;
    bool read_only = false;
    std::vector<std::byte> bytes;
  };

  std::vector<std::byte> inputs() const {
    std::vector<std::byte> all;
    for (const FakeBuffer& buffer : buffers_) {
      if (buffer.read_only && buffer.set == shared_) {
        all.insert(all.end(), buffer.bytes.begin(), buffer.bytes.end());
      }
    }
    return all;
  }

  std::vector<FakeBuffer> buffers_;
  std::set<std::vector<std::byte>> remembered_;
  std::set<std::size_t> launched_at_;
  std::size_t set_ = 0;
  std::size_t shared_ = 0;
  int found_ = 0;
  int launches_ = 0;
  std::chrono::nanoseconds elapsed_{0};
};

TEST_F(TimedRunsTest, AKernelWithAPerfectMemoryGainsNothing) {
  case_.sampling->rivals = {case_.plan};
  case_.sampling->places = 3;
  case_.sampling->warm = true;
  case_.sampling->min_samples = case_.sampling->max_samples = 60;
  PerfectMemory device;
  // The device's memory outlives the evaluations.
  for (int evaluation = 0; evaluation < 3; ++evaluation) {
    case_.seed = 100U + static_cast<std::uint64_t>(evaluation);
    RunCaseReport report;
    EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
    EXPECT_GE(report.samples_ns.size(), 60U);
    EXPECT_EQ(device.found(), 0);
  }
  RunCaseReport again; // only a given seed is used twice
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(again).has_value());
  EXPECT_GT(device.found(), 60);
}

TEST_F(TimedRunsTest, WhatComesBeforeALaunchCountsAsTimeSpent) {
  PerfectMemory device;
  case_.sampling->min_samples = 3;
  case_.sampling->budget = std::chrono::milliseconds(10);
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_GE(report.samples_ns.size(), 3U);
  EXPECT_LE(report.samples_ns.size(), 20U) << "as many as 10 ms have room for";
}

TEST_F(TimedRunsTest, TheFirstLaunchAtAPlaceIsNoSample) {
  PerfectMemory device;
  case_.sampling->places = 9;
  case_.sampling->min_samples = case_.sampling->max_samples = 12;
  case_.sampling->rivals = {case_.plan};
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  ASSERT_GE(report.samples_ns.size(), 9U);
  EXPECT_GE(report.warm_ups, 9);
  const auto first = static_cast<double>(PerfectMemory::kFirst.count());
  EXPECT_THAT(report.samples_ns, testing::Each(testing::Lt(first)));
  EXPECT_THAT(report.rival_samples_ns.front(), testing::Each(testing::Lt(first)));
}

TEST_F(TimedRunsTest, ASlowKernelsFirstLaunchIsASample) {
  PerfectMemory device;
  case_.sampling->budget = std::chrono::milliseconds(0);
  case_.sampling->min_samples = 3;
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_EQ(report.warm_ups, 0);
}

TEST_F(TimedRunsTest, AVerySlowKernelDoesNotRunAtEveryPlace) {
  PerfectMemory device;
  case_.sampling->budget = std::chrono::milliseconds(0);
  case_.sampling->places = 9;
  case_.sampling->min_samples = 12;
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_GE(report.samples_ns.size(), 3U);
  EXPECT_EQ(report.stopped_by, "budget");
  EXPECT_LE(device.launches(), 4) << "three, and one to be judged if none was";
}

/// The last contestant stalls in its second launch.
class StallingRival : public PerfectMemory {
public:
  void select_module(std::size_t module) override { module_ = module; }
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                       CacheState caches) override {
    if (module_ == 1 && ++launches_of_rival_ == 2) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return PerfectMemory::run_timed(steps, caches);
  }

private:
  std::size_t module_ = 0;
  int launches_of_rival_ = 0;
};

TEST_F(TimedRunsTest, AStallDoesNotEndTheSeriesOfAll) {
  StallingRival device;
  case_.sampling->rivals = {case_.plan};
  case_.sampling->has_baseline = false;
  case_.sampling->min_samples = 7;
  case_.sampling->budget = std::chrono::milliseconds(30); // together 240 ms for seven samples
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_GE(report.samples_ns.size(), 6U) << "three blocks, so the race may have a result";
}

TEST_F(TimedRunsTest, ContestantsShareTensorsAndHaveScratchOfTheirOwn) {
  Buffer scratch;
  scratch.name = "scratch";
  scratch.kind = Buffer::Kind::Scratch;
  scratch.count = kElements;
  plan_.buffers.push_back(scratch);
  case_.plan = plan_;
  case_.sampling->rivals = {case_.plan, case_.plan};
  case_.sampling->places = 2;
  PerfectMemory device;
  const TimedRuns timed(device, case_, view_);
  EXPECT_EQ(device.sets_of("x"), 2U);
  EXPECT_EQ(device.sets_of("y"), 2U);
  EXPECT_EQ(device.sets_of("scratch"), 6U);
}

class RivalsTest : public TimedRunsTest {
protected:
  static std::string kernel(const std::string& body) {
    return "extern \"C\" __global__ void k(const float* x, float* y) { int i = threadIdx.x; " +
           body + " }";
  }
  static std::string busy(int rounds) {
    return "float z = x[i]; for (int r = 0; r < " + std::to_string(rounds) +
           "; ++r) { z = z * 0.999f + x[i]; } y[i] = z > 1e30f ? z : 2 * x[i];";
  }
  /// Races `own` against `other`, which is module 1.
  RunCaseReport race(const std::string& own, const std::string& other) {
    device_->load_module(build_module(kernel(own), {"k"}));
    EXPECT_EQ(device_->add_module(build_module(kernel(other), {"k"})), 1U);
    case_.sampling->rivals = {case_.plan};
    case_.sampling->stop_when_lost = true;
    case_.sampling->max_samples = std::min(case_.sampling->max_samples, 100);
    case_.sampling->min_samples = std::min(case_.sampling->min_samples, 100);
    return time();
  }
};

TEST_F(RivalsTest, AreTimedBesideTheCasesOwnKernel) {
  case_.sampling->min_samples = 12;
  const RunCaseReport report = race(busy(2'000), busy(50'000));
  EXPECT_FALSE(report.fault.has_value());
  ASSERT_EQ(report.rival_samples_ns.size(), 1U);
  EXPECT_EQ(report.rival_samples_ns.front().size(), report.samples_ns.size());
  EXPECT_GE(report.samples_ns.size(), 12U);
  EXPECT_LT(tasks::median(report.samples_ns), tasks::median(report.rival_samples_ns.front()) / 5);
}

TEST_F(RivalsTest, OfAFinalEverybodyIsJudged) {
  case_.sampling->all_judged = true;
  case_.sampling->judged = 2;
  const RunCaseReport report = race(busy(10), "y[i] = 3 * x[i];");
  EXPECT_FALSE(report.fault.has_value());
  std::set<std::size_t> judged;
  for (const TimedOutput& one : report.timed_outputs) {
    judged.insert(one.contestant);
    const std::vector<float> right = twice_x(launch_seed(case_.seed, one.contestant, one.launch));
    EXPECT_EQ(output(one) == right, one.contestant == 0);
  }
  EXPECT_EQ(judged, (std::set<std::size_t>{0, 1})) << "at least one launch of each";
}

/// The launches of contestant 1 that were judged, in one race of `own` against it.
class IncumbentTest : public RivalsTest {
protected:
  std::vector<TimedOutput> judged_of_incumbent(const std::string& own, const std::string& other) {
    case_.sampling->has_baseline = false;
    case_.sampling->incumbent_judged = 1;
    case_.sampling->min_samples = 12;
    const RunCaseReport report = race(own, other);
    EXPECT_FALSE(report.fault.has_value());
    std::vector<TimedOutput> judged;
    std::copy_if(report.timed_outputs.begin(), report.timed_outputs.end(),
                 std::back_inserter(judged),
                 [](const TimedOutput& one) { return one.contestant == 1; });
    return judged;
  }
};

TEST_F(IncumbentTest, IsJudgedInEveryRace) {
  for (const bool loses : {false, true}) {
    const std::vector<TimedOutput> judged =
        judged_of_incumbent(busy(loses ? 200'000 : 10), "y[i] = 3 * x[i];");
    ASSERT_EQ(judged.size(), 1U);
    EXPECT_NE(output(judged.front()), twice_x(launch_seed(case_.seed, 1, judged.front().launch)));
  }
}

TEST_F(IncumbentTest, EachOfItsLaunchesMayBeJudged) {
  std::set<int> launches;
  for (int i = 0; i < 20; ++i) {
    launches.insert(judged_of_incumbent(busy(10), busy(10)).at(0).launch);
  }
  EXPECT_GT(launches.size(), 5U);
}

TEST_F(IncumbentTest, LeavesTheOtherKernelAnArea) {
  for (const int areas : {1, 2, 3}) {
    case_.sampling->areas = areas;
    EXPECT_EQ(judged_of_incumbent(busy(10), busy(10)).size(), areas > 1 ? 1U : 0U);
  }
}

TEST_F(RivalsTest, TheBaselineIsNotJudged) {
  case_.sampling->incumbent_judged = 1;
  for (const TimedOutput& one : race(busy(10), "y[i] = 3 * x[i];").timed_outputs) {
    EXPECT_EQ(one.contestant, 0U);
  }
}

TEST_F(RivalsTest, ASeriesOfManyMayEndWithoutAJudgedLaunch) {
  case_.sampling->all_judged = true;
  case_.sampling->judged = 0.25;
  case_.sampling->min_samples = 4;
  int judged = 0;
  for (int i = 0; i < 40; ++i) {
    case_.sampling->max_samples = 4;
    for (const TimedOutput& one : race(busy(10), busy(10)).timed_outputs) {
      judged += one.contestant == 1 ? 1 : 0;
    }
  }
  EXPECT_GT(judged, 0);
  EXPECT_LT(judged, 30) << "about one in four series";
}

TEST_F(RivalsTest, AClearLoserIsNotTimedToTheEnd) {
  case_.sampling->min_samples = 100;
  const RunCaseReport report = race(busy(200'000), busy(2'000));
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_EQ(report.stopped_by, "clearly slower");
  EXPECT_LT(report.samples_ns.size(), 50U);
}

TEST_F(RivalsTest, ABaselineThatIsTooShortToCompareIsNotTimedToTheEnd) {
  case_.sampling->min_samples = 4;
  case_.sampling->least_baseline_ns = 1e12;
  const RunCaseReport report = race(busy(2'000), busy(2'000));
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_EQ(report.stopped_by, "the baseline is too short");
  EXPECT_EQ(report.samples_ns.size(), 4U);
  EXPECT_FALSE(report.timed_outputs.empty()) << "a launch is judged all the same";
  case_.sampling->least_baseline_ns = 1;
  EXPECT_NE(race(busy(2'000), busy(2'000)).stopped_by, "the baseline is too short");
}

TEST_F(RivalsTest, AFaultSaysWhoWasRunning) {
  const RunCaseReport own = race("__trap();", busy(10));
  ASSERT_TRUE(own.fault.has_value());
  EXPECT_FALSE(own.rival.has_value());
  const RunCaseReport other = race(busy(10), "__trap();");
  ASSERT_TRUE(other.fault.has_value());
  EXPECT_EQ(other.rival, std::optional<std::size_t>(0));
}

// Poisoning resets the scratch, so the check must come before it.
TEST_F(RivalsTest, OnceScratchMustHoldItsValueAgain) {
  Buffer once;
  once.name = "once";
  once.kind = Buffer::Kind::Scratch;
  once.count = kElements;
  once.once = 0;
  plan_.buffers.push_back(once);
  plan_.steps.push_back(
      launch_step("k", 1, kElements, {buffer_argument("x"), buffer_argument("once")}));
  case_.plan = plan_;
  for (int i = 0; i < 30; ++i) {
    const RunCaseReport report = race(busy(10), busy(10));
    ASSERT_TRUE(report.fault.has_value()) << i;
    EXPECT_FALSE(report.rival.has_value());
    EXPECT_THAT(report.fault->detail, testing::HasSubstr("scratch 'once' is declared `once`"));
  }
}

TEST_F(TimedRunsTest, KeptScratchMustStayAsPrepared) {
  Buffer kept;
  kept.name = "kept";
  kept.kind = Buffer::Kind::Scratch;
  kept.count = kElements;
  kept.keep = true;
  plan_.buffers.push_back(kept);
  plan_.prepare = {launch_step("k", 1, kElements, {buffer_argument("x"), buffer_argument("kept")})};
  case_.plan = plan_;
  EXPECT_FALSE(time().fault.has_value());
  plan_.steps.push_back(
      launch_step("k", 1, kElements, {buffer_argument("y"), buffer_argument("kept")}));
  case_.plan = plan_;
  const RunCaseReport report = time();
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_EQ(report.fault->verdict, tasks::Verdict::ModifiedInput);
  EXPECT_THAT(report.fault->detail, testing::HasSubstr("scratch 'kept' is declared `keep`"));
}

} // namespace
} // namespace winnow::evaluators
