// What timed launches give away, tried on the cpu device.
#include "evaluators/device/cpu/runtime/test_modules.h"
#include "evaluators/worker/timed_runs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using tasks::Buffer;

constexpr std::int64_t kCount = 64;
constexpr std::uint64_t kBytes = kCount * sizeof(float);

class TimedRunsTest : public CpuDeviceTest {
protected:
  /// A case with x -> y by a kernel with this body, three slots, whose known outputs are those of
  /// kernel `y[i] = 2 * x[i]`.
  void SetUp() override {
    CpuDeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    Buffer x, y;
    x.name = "x";
    x.count = y.count = kCount;
    y.name = "y";
    y.kind = Buffer::Kind::Output;
    case_.plan.buffers = {x, y};
    case_.plan.steps = {launch_step("k", 1, kCount, {buffer_argument("x"), buffer_argument("y")})};
    case_.outputs = {{"y", 0, kBytes}};
    case_.sampling.emplace();
    case_.sampling->max_samples = 12;
    case_.sampling->min_samples = 12;
    case_.sampling->areas = 4;
    case_.sampling->area_bytes = kBytes;
    device_ = make();
    use("y[i] = 2 * x[i];");
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      CaseRunner runner(*device_, case_.plan, seed);
      runner.poison(0);
      EXPECT_FALSE(runner.run().has_value());
      case_.sampling->slots.push_back({seed, {{"y", runner.checksum("y")}}});
    }
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

  float in_area(int area, std::size_t element) {
    float value = 0;
    std::memcpy(&value,
                view_.slice(static_cast<std::uint64_t>(area) * kBytes, kBytes).data() +
                    element * sizeof(value),
                sizeof(value));
    return value;
  }

  RunCase case_;
  Arena arena_{kBytes * 4};
  ArenaView view_{arena_.fd()};
  std::unique_ptr<Device> device_;
};

TEST_F(TimedRunsTest, AnHonestKernelGivesTheKnownOutputs) {
  const RunCaseReport report = time();
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_GE(report.samples_ns.size(), 12U);
  EXPECT_TRUE(report.outputs_known);
  EXPECT_TRUE(report.timed_outputs.empty());
  EXPECT_GE(report.verified, 3) << "the last launch of every slot";
  EXPECT_LT(report.verified, static_cast<int>(report.samples_ns.size()) + report.warm_ups);
}

TEST_F(TimedRunsTest, EveryLaunchOfALeaderIsVerified) {
  case_.sampling->verify_all = true;
  const RunCaseReport report = time();
  EXPECT_EQ(report.verified, static_cast<int>(report.samples_ns.size()) + report.warm_ups);
}

TEST_F(TimedRunsTest, AKernelThatWritesNothingIsFound) {
  use("if (i > 0) y[i] = 2 * x[i];");
  const RunCaseReport report = time();
  ASSERT_FALSE(report.timed_outputs.empty());
  EXPECT_FALSE(report.outputs_known);
  const TimedOutput& output = report.timed_outputs.front();
  EXPECT_TRUE(std::isnan(in_area(output.area, 0))) << "what a launch before left is poisoned";
  EXPECT_FALSE(std::isnan(in_area(output.area, 1)));
}

TEST_F(TimedRunsTest, AKernelThatIsRightOnlyAtFirstIsFound) {
  use("__syncthreads(); if (i == 0) ++calls; __syncthreads(); y[i] = calls == 1 ? 2 * x[i] : 0;",
      "__device__ int calls; ");
  EXPECT_FALSE(time().timed_outputs.empty());
}

TEST_F(TimedRunsTest, WhatALaunchKeepsIsGoneBeforeTheSameInputComesAgain) {
  // Counts the launches that find their own input in the cache of an earlier one.
  use("bool hit = false; for (int s = 0; s < 8; ++s) hit = hit || key[s] == x[0];"
      "__syncthreads(); if (i == 0 && !hit) key[used++ % 8] = x[0]; y[i] = hit ? -1 : 2 * x[i];",
      "__device__ float key[8]; __device__ int used; ");
  case_.sampling->verify_all = true;
  const RunCaseReport report = time();
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_TRUE(report.timed_outputs.empty()) << "some launch has met an input again";
}

TEST_F(TimedRunsTest, DifferentOutputsGoToAreasOfTheirOwn) {
  use("y[i] = 3 * x[i];");
  case_.sampling->verify_all = true;
  const RunCaseReport report = time();
  ASSERT_EQ(report.timed_outputs.size(), 4U) << "one while it runs, then one for each slot";
  std::vector<std::size_t> slots;
  for (const TimedOutput& output : report.timed_outputs) {
    EXPECT_EQ(output.area, static_cast<int>(slots.size()));
    slots.push_back(output.slot);
  }
  slots.erase(slots.begin());
  EXPECT_THAT(slots, testing::ElementsAre(0, 1, 2));
}

/// A device whose launches take next to nothing once they begin, as on a GPU, where the cache is
/// emptied before.
class SlowToBegin final : public Device {
public:
  void load_module(const std::filesystem::path& /*path*/) override {}
  std::size_t add_module(const std::filesystem::path& /*path*/) override { return 1; }
  void select_module(std::size_t /*module*/) override {}
  bool reset_variables() override { return keeps_state; }
  std::size_t allocate(const std::string& /*name*/, std::size_t /*bytes*/,
                       bool read_only) override {
    allocated.push_back(set_);
    buffers_.push_back({set_, read_only});
    return buffers_.size() - 1;
  }
  void select_buffers(std::size_t set) override { set_ = set; }
  void release_buffers() override {}
  void upload(std::size_t /*buffer*/, std::span<const std::byte> /*bytes*/) override {}
  void download(std::size_t /*buffer*/, std::span<std::byte> /*bytes*/) override {}
  void fill_pattern(std::size_t buffer, std::uint64_t /*pattern*/) override {
    buffers_.at(buffer).answers.reset();
  }
  void generate(std::size_t buffer, const tasks::GeneratorSpec& /*generator*/,
                tasks::DType /*dtype*/, std::uint64_t seed) override {
    seeds_[buffers_.at(buffer).set] = seed;
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
    write_answers();
    elapsed_ = std::chrono::nanoseconds(1000 + 300 * (++launches_ % 3)); // never quite the same
    if (launched_.insert(set_).second) {
      elapsed_ = kFirst;
    }
    return std::nullopt;
  }
  std::chrono::nanoseconds elapsed() const override { return elapsed_; }
  std::uint64_t checksum(std::size_t /*buffer*/) override { return 0; }
  std::optional<DeviceFault> verify_guards() override { return std::nullopt; }
  std::vector<CheckFinding> findings() override { return {}; }

  /// Of each set of buffers: not held, on a GPU.
  static constexpr std::chrono::nanoseconds kFirst{2000};
  bool keeps_state = false;
  std::vector<std::size_t> allocated; ///< the set of each buffer, in order
  int launches() const { return launches_; }
  /// Launches that would have met an answer to their input somewhere.
  int found() const { return found_; }

private:
  struct FakeBuffer {
    std::size_t set = 0;
    bool read_only = false;
    std::optional<std::uint64_t> answers = std::nullopt; ///< the seed of what it is the answer to
  };

  void write_answers() {
    const std::uint64_t seed = seeds_[set_];
    found_ += std::any_of(buffers_.begin(), buffers_.end(),
                          [&](const FakeBuffer& buffer) { return buffer.answers == seed; })
                  ? 1
                  : 0;
    for (FakeBuffer& buffer : buffers_) {
      if (buffer.set == set_ && !buffer.read_only) {
        buffer.answers = seed;
      }
    }
  }

  std::vector<FakeBuffer> buffers_;
  std::map<std::size_t, std::uint64_t> seeds_; ///< by set
  int found_ = 0;
  std::size_t set_ = 0;
  std::set<std::size_t> launched_;
  int launches_ = 0;
  std::chrono::nanoseconds elapsed_{0};
};

TEST_F(TimedRunsTest, WhatComesBeforeALaunchCountsAsTimeSpent) {
  SlowToBegin device;
  case_.sampling->min_samples = 3;
  case_.sampling->max_samples = 200;
  case_.sampling->budget = std::chrono::milliseconds(10);
  case_.outputs.clear();
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_GE(report.samples_ns.size(), 3U);
  EXPECT_LE(report.samples_ns.size(), 20U) << "as many as 10 ms have room for";
}

TEST_F(TimedRunsTest, TheFirstLaunchWithASetOfBuffersIsNoSample) {
  SlowToBegin device;
  for (const std::uint64_t seed : {4U, 5U, 6U, 7U, 8U, 9U}) {
    case_.sampling->slots.push_back({seed, {}});
  }
  case_.sampling->rivals = {case_.plan};
  case_.outputs.clear();
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  ASSERT_GE(report.samples_ns.size(), 9U);
  EXPECT_GE(report.warm_ups, 9);
  const auto first = static_cast<double>(SlowToBegin::kFirst.count());
  EXPECT_THAT(report.samples_ns, testing::Each(testing::Lt(first)));
  EXPECT_THAT(report.rival_samples_ns.front(), testing::Each(testing::Lt(first)));
}

TEST_F(TimedRunsTest, ASlowKernelsFirstLaunchIsASample) {
  SlowToBegin device;
  case_.sampling->budget = std::chrono::milliseconds(0);
  case_.sampling->min_samples = 3;
  case_.outputs.clear();
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_EQ(report.warm_ups, 0);
}

TEST_F(TimedRunsTest, AVerySlowKernelDoesNotRunWithEverySetOfBuffers) {
  SlowToBegin device;
  case_.sampling->budget = std::chrono::milliseconds(0);
  for (const std::uint64_t seed : {4U, 5U, 6U, 7U, 8U, 9U}) {
    case_.sampling->slots.push_back({seed, {}});
  }
  case_.outputs.clear();
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_EQ(report.samples_ns.size(), 3U);
  EXPECT_EQ(report.stopped_by, "budget");
  EXPECT_EQ(device.launches(), 3);
  SlowToBegin reloaded;
  reloaded.keeps_state = true;
  EXPECT_FALSE(TimedRuns(reloaded, case_, view_).run(report).has_value());
  EXPECT_EQ(reloaded.launches(), 6) << "each once more, which takes away what loading has to it";
}

TEST_F(TimedRunsTest, NoContestantAlwaysHasTheBuffersThatAreAllocatedFirst) {
  case_.sampling->rivals = {case_.plan};
  constexpr std::size_t kSets = 6; // three slots of two contestants
  std::set<std::size_t> first;
  for (int i = 0; i < 60; ++i) {
    SlowToBegin device;
    const TimedRuns timed(device, case_, view_);
    EXPECT_EQ(std::set<std::size_t>(device.allocated.begin(), device.allocated.end()).size(),
              kSets);
    first.insert(device.allocated.front());
  }
  EXPECT_GT(first.size(), kSets / 2);
}

TEST_F(TimedRunsTest, NoAnswerToItsInputIsAnywhereWhenALaunchBegins) {
  case_.sampling->rivals = {case_.plan};
  std::vector<TimedSlot>& slots = case_.sampling->slots;
  const std::vector<TimedSlot> inputs = slots;
  slots.insert(slots.end(), inputs.begin(), inputs.end()); // at two places each
  for (TimedSlot& slot : slots) {
    slot.known_outputs = {{"y", 0}};
  }
  SlowToBegin device;
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(device, case_, view_).run(report).has_value());
  EXPECT_EQ(device.found(), 0);
  EXPECT_TRUE(report.outputs_known);
  EXPECT_GE(report.verified, static_cast<int>(report.samples_ns.size()) / 2)
      << "those that a rival's launch follows";
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
  /// `own` against `other`, the module of which is number 1.
  RunCaseReport race(const std::string& own, const std::string& other) {
    device_->load_module(build_module(kernel(own), {"k"}));
    EXPECT_EQ(device_->add_module(build_module(kernel(other), {"k"})), 1U);
    case_.sampling->rivals = {case_.plan};
    case_.sampling->stop_when_lost = true;
    case_.sampling->max_samples = 100;
    return time();
  }
};

TEST_F(RivalsTest, AreTimedBesideTheCasesOwnKernel) {
  case_.sampling->min_samples = 12;
  const RunCaseReport report = race(busy(2'000), busy(200'000));
  EXPECT_FALSE(report.fault.has_value());
  ASSERT_EQ(report.rival_samples_ns.size(), 1U);
  EXPECT_EQ(report.rival_samples_ns.front().size(), report.samples_ns.size());
  EXPECT_GE(report.samples_ns.size(), 12U);
  EXPECT_LT(tasks::median(report.samples_ns), tasks::median(report.rival_samples_ns.front()) / 5);
  EXPECT_GE(report.verified, static_cast<int>(report.samples_ns.size()) - 2)
      << "every launch of a leader; the first two have no lead yet";
}

TEST_F(RivalsTest, AClearLoserIsNotTimedToTheEnd) {
  case_.sampling->min_samples = 100;
  const RunCaseReport report = race(busy(200'000), busy(2'000));
  EXPECT_FALSE(report.fault.has_value());
  EXPECT_EQ(report.stopped_by, "clearly slower");
  EXPECT_LT(report.samples_ns.size(), 50U);
}

TEST_F(RivalsTest, AFaultSaysWhoseItWas) {
  const RunCaseReport own = race("__trap();", busy(10));
  ASSERT_TRUE(own.fault.has_value());
  EXPECT_FALSE(own.rival.has_value());
  const RunCaseReport other = race(busy(10), "__trap();");
  ASSERT_TRUE(other.fault.has_value());
  EXPECT_EQ(other.rival, std::optional<std::size_t>(0));
}

// Removing answers puts it right: it must be looked at before.
TEST_F(RivalsTest, OnceScratchMustHoldItsValueAgain) {
  Buffer once;
  once.name = "once";
  once.kind = Buffer::Kind::Scratch;
  once.count = kCount;
  once.once = 0;
  case_.plan.buffers.push_back(once);
  case_.plan.steps.push_back(
      launch_step("k", 1, kCount, {buffer_argument("x"), buffer_argument("once")}));
  case_.sampling->slots.resize(1); // a rival follows in every other turn, perhaps in the last one
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
  kept.count = kCount;
  kept.keep = true;
  case_.plan.buffers.push_back(kept);
  case_.plan.prepare = {
      launch_step("k", 1, kCount, {buffer_argument("x"), buffer_argument("kept")})};
  EXPECT_FALSE(time().fault.has_value());
  case_.plan.steps.push_back(
      launch_step("k", 1, kCount, {buffer_argument("y"), buffer_argument("kept")}));
  const RunCaseReport report = time();
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_EQ(report.fault->verdict, tasks::Verdict::ModifiedInput);
  EXPECT_THAT(report.fault->detail, testing::HasSubstr("scratch 'kept' is declared `keep`"));
}

} // namespace
} // namespace winnow::evaluators
