#include "evaluators/device/gpu/gpu_device_test.h"

#include "evaluators/worker/timed_runs.h"
#include "tasks/inputs/input_generator.h"

#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::Verdict;
using testing::HasSubstr;
using Kind = tasks::GeneratorSpec::Kind;

// Large enough that its contents are kept.
constexpr std::size_t kLargeBytes = (std::size_t{1} << 20U) + 4;

TEST_F(GpuDeviceTest, PassesArgumentsAsTheKernelTakesThem) {
  add_kernel("k", host_kernel(+[](float* y, const float* null, double d, float f, long long wide,
                                  short narrow, bool flag) {
               y[0] = null == nullptr ? 1 : 0;
               y[1] = static_cast<float>(d);
               y[2] = f;
               y[3] = static_cast<float>(wide);
               y[4] = narrow;
               y[5] = flag ? 1 : 0;
             }));
  open();
  const std::size_t y = floats("y", std::vector<float>(8, 0));
  const auto fault = device->run(
      {launch_of("k", {pointer_argument("y", 8), pointer_argument(""), real_argument(0.5, 8),
                       real_argument(0.25, 4), integer_argument(-(1LL << 40), 8),
                       integer_argument(-3, 2), integer_argument(1, 1)})});
  EXPECT_FALSE(fault.has_value());
  EXPECT_EQ(contents<float>(y, 8), (std::vector<float>{0, 0, 1, 0.5F, 0.25F, -0x1p40F, -3, 1}));
  EXPECT_EQ(device->elapsed().count(), 1000);
  EXPECT_EQ(driver->launches.back().grid, (std::array<unsigned, 3>{3, 1, 1}));
  EXPECT_EQ(driver->launches.back().block, (std::array<unsigned, 3>{128, 1, 1}));
}

TEST_F(GpuDeviceTest, HandsOnHowToLaunch) {
  add_kernel("k", host_kernel(+[](float*) {}));
  open();
  floats("y", {0});
  tasks::LaunchStep step = launch_of("k", {pointer_argument("y")});
  step.cluster = {2, 1, 1};
  step.cooperative = true;
  step.shared_bytes = 100000;
  EXPECT_FALSE(device->run({step}).has_value());
  EXPECT_EQ(driver->launches.back().cluster, (std::array<unsigned, 3>{2, 1, 1}));
  EXPECT_TRUE(driver->launches.back().cooperative);
  EXPECT_EQ(driver->launches.back().shared_bytes, 100000U);
}

TEST_F(GpuDeviceTest, SeesWritesAroundBuffers) {
  add_kernel("at", host_kernel(+[](unsigned char* y, long long at) { y[at] = 0; }));
  for (const std::size_t bytes : {std::size_t{5}, std::size_t{4096}, std::size_t{3} << 20U}) {
    const auto after_write = [&](long long at) {
      if (!device) {
        open();
      }
      device->release_buffers();
      device->allocate("x", 64, false);
      device->allocate("y", bytes, false);
      EXPECT_FALSE(device->verify_guards().has_value());
      EXPECT_FALSE(
          device->run({launch_of("at", {pointer_argument("y"), integer_argument(at, 8)})}));
      return device->verify_guards();
    };
    const auto size = static_cast<long long>(bytes);
    expect_fault(after_write(-1), Verdict::OutOfBounds,
                 "buffer 'y' was written 1 bytes before its start");
    expect_fault(after_write(-(512 << 10)), Verdict::OutOfBounds,
                 "buffer 'y' was written 524288 bytes before its start");
    expect_fault(after_write(size), Verdict::OutOfBounds,
                 "buffer 'y' was written at byte " + std::to_string(size) + " of " +
                     std::to_string(size) + " bytes");
    expect_fault(after_write(size + 500000), Verdict::OutOfBounds,
                 "at byte " + std::to_string(size + 500000));
    EXPECT_FALSE(after_write(0).has_value());
    EXPECT_FALSE(after_write(size - 1).has_value());
  }
}

TEST_F(GpuDeviceTest, SeesAGuardThatWasCopiedFromAnother) {
  add_kernel("copy", host_kernel(+[](std::uint64_t* to, const std::uint64_t* from, int skip) {
               std::memcpy(to, from + skip, 128);
             }));
  open();
  device->allocate("x", 4096, false);
  device->allocate("y", 4096, false);
  const auto copied = [&](const std::string& to, long long at, const std::string& from, int skip) {
    EXPECT_FALSE(
        device->run({launch_of("copy", {pointer_argument(to, at), pointer_argument(from, 4096),
                                        integer_argument(skip, 4)})}));
    return device->verify_guards();
  };
  EXPECT_FALSE(copied("y", 0, "x", 0).has_value());
  expect_fault(copied("y", 4096, "x", 0), Verdict::OutOfBounds, "buffer 'y' was written at byte");
  device->release_buffers();
  device->allocate("x", 4096, false);
  EXPECT_FALSE(device->verify_guards().has_value());
  expect_fault(copied("x", 4096, "x", 32), Verdict::OutOfBounds, "buffer 'x' was written at byte");
}

TEST_F(GpuDeviceTest, GuardsAreNaNInEveryFloatingTypeAndNewInEveryCase) {
  add_kernel("read", host_kernel(+[](std::uint64_t* to, const std::uint64_t* from) {
               std::memcpy(to, from, 64);
             }));
  open();
  std::set<std::vector<std::byte>> seen;
  for (int i = 0; i < 4; ++i) {
    const std::size_t y = device->allocate("y", 64, false);
    EXPECT_FALSE(
        device->run({launch_of("read", {pointer_argument("y"), pointer_argument("y", 64)})}));
    const auto bytes = contents<std::byte>(y, 64);
    seen.insert(bytes);
    for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E5M2}) {
      for (std::size_t at = 0; at < bytes.size(); at += tasks::size_bytes(dtype)) {
        EXPECT_TRUE(std::isnan(tasks::load_element(dtype, bytes.data() + at)))
            << to_string(dtype) << " at " << at;
      }
    }
    device->release_buffers();
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST_F(GpuDeviceTest, FindsBuffersInTheSelectedSet) {
  add_kernel("k", host_kernel(+[](float* y, const float* x) { y[0] = x[0] + 1; }));
  open();
  std::vector<std::size_t> outputs;
  for (int set = 0; set < 3; ++set) {
    device->select_buffers(static_cast<std::size_t>(set), 0);
    floats("x", {static_cast<float>(10 * set)}, true);
    outputs.push_back(floats("y", {0}));
  }
  const tasks::Step step = launch_of("k", {pointer_argument("y"), pointer_argument("x")});
  const std::vector<tasks::Step> steps{step, step};
  for (const std::size_t set : {2U, 0U, 1U, 2U}) {
    device->select_buffers(set, 0);
    EXPECT_FALSE(device->run_timed(steps).has_value());
  }
  EXPECT_EQ(driver->count("record"), 3U) << "one graph for each set";
  for (std::size_t set = 0; set < 3; ++set) {
    EXPECT_EQ(contents<float>(outputs[set], 1)[0], static_cast<float>(10 * set + 1));
  }
  EXPECT_FALSE(device->verify_guards().has_value());
  device->release_buffers();
  EXPECT_EQ(driver->count("release_graph"), 3U);
  EXPECT_THROW(device->run(steps), Error); // all sets are released
}

TEST_F(GpuDeviceTest, LoadsModulesAnewEvenFromTheSamePath) {
  add_kernel("k", host_kernel(+[](float*) {}));
  open();
  const std::string path = write(module_with({"k"}));
  device->load_module(path);
  driver->calls.clear();
  device->load_module(path);
  EXPECT_EQ(driver->calls, (std::vector<std::string>{"unload_module", "load_module"}));
}

TEST_F(GpuDeviceTest, FindsKernelsInTheSelectedModule) {
  add_kernel("k", host_kernel(+[](float* y) { y[0] += 1; }));
  open();
  driver->kernels.emplace("other", host_kernel(+[](float* y) { y[0] += 100; }));
  GpuModuleFile rival = module_with({});
  rival.symbols["k"] = "other"; // the plan's name stands for another kernel
  const std::size_t module = device->add_module(write(rival));
  EXPECT_EQ(module, 1U);
  const std::size_t y = floats("y", {0});
  const std::vector<tasks::Step> steps{launch_of("k", {pointer_argument("y")})};
  EXPECT_FALSE(device->run(steps).has_value());
  EXPECT_EQ(contents<float>(y, 1)[0], 1) << "adding a module does not select it";
  device->select_module(module);
  EXPECT_FALSE(device->run(steps).has_value());
  EXPECT_EQ(contents<float>(y, 1)[0], 101);
  device->select_module(0);
  EXPECT_FALSE(device->run(steps).has_value());
  EXPECT_EQ(contents<float>(y, 1)[0], 102);
  EXPECT_THROW(device->select_module(2), std::out_of_range);
}

TEST_F(GpuDeviceTest, ForgetsAllModulesWhenOneIsLoaded) {
  add_kernel("k", host_kernel(+[](float*) {}));
  open();
  device->add_module(write(module_with({"k"})));
  driver->calls.clear();
  device->load_module(write(module_with({"k"})));
  EXPECT_EQ(driver->calls,
            (std::vector<std::string>{"unload_module", "unload_module", "load_module"}));
  EXPECT_EQ(device->add_module(write(module_with({"k"}))), 1U);
}

TEST_F(GpuDeviceTest, SeesChangedInputs) {
  add_kernel("at", host_kernel(+[](float* x, int at) { x[at] += 1; }));
  open();
  const std::size_t x = device->allocate("x", 1000 * sizeof(float), true);
  device->generate(x, {Kind::Normal, 0, 1}, DType::F32, 7);
  EXPECT_FALSE(device->verify_guards().has_value());
  EXPECT_FALSE(device->run({launch_of("at", {pointer_argument("x"), integer_argument(9, 4)})}));
  const auto fault = device->verify_guards();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->verdict, Verdict::ModifiedInput);
  EXPECT_THAT(fault->detail, testing::MatchesRegex("input 'x' was changed at byte 3[6-9]"));

  device->release_buffers();
  floats("w", {1, 2, 3}, true);
  EXPECT_FALSE(device->verify_guards().has_value());
  EXPECT_FALSE(device->run({launch_of("at", {pointer_argument("w"), integer_argument(2, 4)})}));
  expect_fault(device->verify_guards(), Verdict::ModifiedInput, "input 'w' was changed");
}

TEST_F(GpuDeviceTest, SeesChangedLargeInputs) {
  add_kernel("at", host_kernel(+[](float* x, int at) { x[at] += 1; }));
  open();
  const std::size_t x = device->allocate("x", kLargeBytes, true);
  device->generate(x, {Kind::Normal, 0, 1}, DType::F32, 7);
  EXPECT_FALSE(device->verify_guards().has_value());
  EXPECT_FALSE(device->run({launch_of("at", {pointer_argument("x"), integer_argument(9, 4)})}));
  const auto fault = device->verify_guards();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->verdict, Verdict::ModifiedInput);
  EXPECT_THAT(fault->detail, testing::MatchesRegex("input 'x' was changed at byte 3[6-9]"));
}

/// Two contestants that take turns; records the arguments of their launches.
class GpuTurnsTest : public GpuDeviceTest {
protected:
  struct Launch {
    bool by_rival = false;
    float* input = nullptr;
  };

  void SetUp() override {
    add_kernel("own", host_kernel(+[](float* x) { launches_.push_back({false, x}); }));
    add_kernel("rival", host_kernel(+[](float* x) { launches_.push_back({true, x}); }));
    open();
    tasks::Buffer x;
    x.name = "x";
    x.count = 8;
    tasks::ResolvedPlan own, rival;
    own.buffers = rival.buffers = {x};
    own.steps = {launch_of("own", {pointer_argument("x")})};
    rival.steps = {launch_of("rival", {pointer_argument("x")})};
    case_.plan = own;
    case_.sampling.emplace();
    case_.sampling->rivals = {rival};
  }

  std::vector<Launch> launches(int samples) {
    case_.sampling->min_samples = case_.sampling->max_samples = samples;
    const std::string module = write(module_with({"own", "rival"}));
    device->load_module(module);
    device->add_module(module);
    const Arena arena(4096);
    const ArenaView view(arena.fd());
    launches_.clear();
    RunCaseReport report;
    EXPECT_FALSE(TimedRuns(*device, case_, view).run(report).has_value());
    EXPECT_EQ(report.samples_ns.size(), static_cast<std::size_t>(samples));
    return launches_;
  }

  RunCase case_;

private:
  static inline std::vector<Launch> launches_;
};

// The addresses of tensors change the time of a short kernel.
TEST_F(GpuTurnsTest, ContestantsHaveTheSameTensorsAtSeveralPlaces) {
  case_.sampling->places = 3;
  const std::vector<Launch> all = launches(30);
  std::set<float*> places;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    places.insert(all[i].input);
    EXPECT_NE(all[i].by_rival, all[i + 1].by_rival);
    EXPECT_EQ(all[i].input, all[i + 1].input);
  }
  EXPECT_EQ(places.size(), 3U);
}

TEST_F(GpuTurnsTest, NoContestantAlwaysBegins) {
  const std::vector<Launch> all = launches(100);
  int begun = 0; // out of about 50 turns
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    begun += all[i].by_rival ? 0 : 1;
  }
  EXPECT_GT(begun, 25);
  EXPECT_LT(begun, 75);
}

// The launches of one turn share a stream, because they are compared. Other turns use other
// streams.
TEST_F(GpuDeviceTest, TakesTurnsOfATimingOnStreamsOfTheirOwn) {
  std::vector<std::size_t> streams;
  add_kernel("tell", {{}, [&](const auto&) { streams.push_back(driver->selected_stream); }});
  driver->streams = 8;
  open();
  RunCase run_case;
  tasks::Buffer x;
  x.name = "x";
  x.count = 8;
  tasks::ResolvedPlan plan;
  plan.buffers = {x};
  plan.steps = {launch_of("tell", {})};
  run_case.plan = plan;
  run_case.sampling.emplace();
  run_case.sampling->min_samples = run_case.sampling->max_samples = 30;
  run_case.sampling->rivals = {run_case.plan};
  const Arena arena(4096);
  const ArenaView view(arena.fd());
  const std::string module = write(module_with({"tell"}));
  device->load_module(module);
  device->add_module(module);
  RunCaseReport report;
  EXPECT_FALSE(TimedRuns(*device, run_case, view).run(report).has_value());
  ASSERT_GE(streams.size(), 60U);
  for (std::size_t i = 0; i + 1 < streams.size(); i += 2) {
    EXPECT_EQ(streams.at(i), streams.at(i + 1)) << i;
  }
  EXPECT_GT(std::set<std::size_t>(streams.begin(), streams.end()).size(), 3U);
}

TEST_F(GpuDeviceTest, RefusesStepsThatWriteInputs) {
  open();
  floats("x", {1}, true);
  floats("y", {1});
  tasks::FillStep fill;
  fill.buffer = "x";
  fill.count = 1;
  expect_fault(device->run({fill}), Verdict::ModifiedInput, "a fill step writes input 'x'");
  tasks::CopyStep copy;
  copy.from = "y";
  copy.to = "x";
  copy.row_bytes = 4;
  expect_fault(device->run_timed({copy}), Verdict::ModifiedInput, "a copy step writes input 'x'");
  EXPECT_FALSE(device->verify_guards().has_value());
}

TEST_F(GpuDeviceTest, DrawsAsTheHostDoes) {
  open();
  constexpr std::size_t kCount = 1003;
  for (const DType dtype : tasks::all_dtypes()) {
    for (const tasks::GeneratorSpec& spec :
         {tasks::GeneratorSpec{Kind::Normal, 1, 40}, tasks::GeneratorSpec{Kind::Uniform, -3, 500},
          tasks::GeneratorSpec{Kind::HeavyTail, 100, 2},
          tasks::GeneratorSpec{Kind::SmallIntegers, -4, 9},
          tasks::GeneratorSpec{Kind::Index, 77, 0}, tasks::GeneratorSpec{Kind::Constant, 2.5, 0}}) {
      const std::size_t bytes = kCount * tasks::size_bytes(dtype);
      const std::size_t x = device->allocate("x", bytes, false);
      device->generate(x, spec, dtype, 11);
      std::vector<std::byte> expected(bytes);
      tasks::generate_tensor(spec, dtype, 11, "x", expected.data(), kCount);
      EXPECT_EQ(contents<std::byte>(x, bytes), expected)
          << to_string(dtype) << " kind " << static_cast<int>(spec.kind);
      device->release_buffers();
    }
  }
}

TEST_F(GpuDeviceTest, RestoresWhatWasDrawn) {
  open();
  const std::size_t x = device->allocate("x", 400, false);
  device->generate(x, {Kind::Uniform, 0, 1}, DType::F32, 3);
  const auto drawn = contents<float>(x, 100);
  device->fill_pattern(x, 0);
  EXPECT_NE(contents<float>(x, 100), drawn);
  device->restore(x);
  EXPECT_EQ(contents<float>(x, 100), drawn);
}

TEST_F(GpuDeviceTest, ChecksumsTellContentsAndPlacesApart) {
  open();
  const std::size_t a = floats("a", {1, 2, 3});
  const std::size_t b = floats("b", {1, 2, 3});
  const std::size_t c = floats("c", {1, 3, 2});
  const std::size_t d = floats("d", {1, 2, 3, 0});
  EXPECT_EQ(device->checksum(a), device->checksum(b));
  EXPECT_NE(device->checksum(a), device->checksum(c));
  EXPECT_NE(device->checksum(a), device->checksum(d));
}

TEST_F(GpuDeviceTest, FillsElementsOfEverySize) {
  open();
  for (const DType dtype : tasks::all_dtypes()) {
    const std::size_t size = tasks::size_bytes(dtype);
    const std::size_t y = device->allocate("y", 10 * size, false);
    device->fill_pattern(y, 0);
    tasks::FillStep fill;
    fill.buffer = "y";
    fill.dtype = dtype;
    fill.value = 1;
    fill.offset_bytes = static_cast<std::int64_t>(2 * size);
    fill.count = 7;
    EXPECT_FALSE(device->run({fill}).has_value());
    const auto bytes = contents<std::byte>(y, 10 * size);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(tasks::load_element(dtype, bytes.data() + i * size), i >= 2 && i < 9 ? 1 : 0)
          << to_string(dtype) << " element " << i;
    }
    device->release_buffers();
  }
}

TEST_F(GpuDeviceTest, TimesEachStepOfARun) {
  open();
  floats("a", {1, 2});
  floats("b", {3, 4});
  tasks::FillStep fill;
  fill.buffer = "b";
  fill.count = 2;
  fill.value = 7;
  ASSERT_FALSE(device->run({fill, fill}).has_value());
  const auto one = static_cast<double>(driver->between.count());
  EXPECT_EQ(device->step_times(), (std::vector<double>{one, one}));
  ASSERT_FALSE(device->run({fill}).has_value());
  EXPECT_EQ(device->step_times().size(), 1U) << "of the last run only";
}

TEST_F(GpuDeviceTest, CopiesRows) {
  open();
  floats("a", {1, 2, 3, 4, 5, 6});
  const std::size_t b = floats("b", std::vector<float>(8, 0));
  tasks::CopyStep copy;
  copy.from = "a";
  copy.to = "b";
  copy.from_offset_bytes = 4;
  copy.row_bytes = 8;
  copy.rows = 2;
  copy.from_stride_bytes = 12;
  copy.to_stride_bytes = 16;
  EXPECT_FALSE(device->run({copy}).has_value());
  EXPECT_EQ(contents<float>(b, 8), (std::vector<float>{2, 3, 0, 0, 5, 6, 0, 0}));
  copy.rows = 3;
  EXPECT_THROW(device->run({copy}), Error); // a plan's ranges are checked before it gets here
}

struct FailureCase {
  GpuFailure failure;
  bool sticky;
  Verdict verdict;
};

class GpuDeviceFaults : public GpuDeviceTest, public testing::WithParamInterface<FailureCase> {};

TEST_P(GpuDeviceFaults, BecomeVerdictsThatNameTheKernel) {
  add_kernel("k", host_kernel(+[](float*) {}));
  open();
  floats("y", {0});
  const std::vector<tasks::Step> steps{launch_of("k", {pointer_argument("y")})};
  const auto& [failure, sticky, verdict] = GetParam();
  driver->failures.emplace(sticky ? "idle" : "launch",
                           GpuError("cuCall", "CUDA_ERROR_X", "explained", failure, sticky));
  const auto fault = device->run(steps);
  expect_fault(fault, verdict, "kernel 'k' (grid 3x1x1, block 128x1x1)");
  EXPECT_THAT(fault->detail, HasSubstr("CUDA_ERROR_X (explained)"));
  EXPECT_EQ(device->usable(), !sticky);
  if (sticky) {
    EXPECT_THROW(device->run(steps), Error);
    EXPECT_THROW(device->allocate("z", 4, false), Error);
    device->release_buffers();
  } else {
    EXPECT_THAT(fault->detail, HasSubstr("the kernel takes 40 registers"));
    EXPECT_FALSE(device->run(steps).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GpuDeviceFaults,
    testing::Values(FailureCase{GpuFailure::InvalidLaunch, false, Verdict::LaunchError},
                    FailureCase{GpuFailure::CooperativeSize, false, Verdict::LaunchError},
                    FailureCase{GpuFailure::OutOfMemory, false, Verdict::OverLimit},
                    FailureCase{GpuFailure::IllegalAddress, true, Verdict::OutOfBounds},
                    FailureCase{GpuFailure::Misaligned, true, Verdict::Crashed},
                    FailureCase{GpuFailure::Assertion, true, Verdict::LaunchError},
                    FailureCase{GpuFailure::Trap, true, Verdict::LaunchError},
                    FailureCase{GpuFailure::LaunchTimeout, true, Verdict::Timeout},
                    FailureCase{GpuFailure::DeviceLost, true, Verdict::Infrastructure},
                    FailureCase{GpuFailure::Other, true, Verdict::Infrastructure}));

TEST_F(GpuDeviceTest, NamesTheStepThatFailed) {
  add_kernel("good", host_kernel(+[](float* y) { y[0] += 1; }));
  add_kernel("missing", host_kernel(+[](float*) {}));
  open();
  driver->kernels.erase("missing");
  const std::size_t y = floats("y", {0});
  const auto fault = device->run({launch_of("good", {pointer_argument("y")}),
                                  launch_of("missing", {pointer_argument("y")}),
                                  launch_of("good", {pointer_argument("y")})});
  expect_fault(fault, Verdict::LaunchError, "kernel 'missing'");
  EXPECT_EQ(contents<float>(y, 1), std::vector<float>{1});
  EXPECT_THROW(device->run({launch_of("unknown", {})}), Error);
}

using GpuDeviceDeathTest = GpuDeviceTest;

TEST_F(GpuDeviceDeathTest, EndsTheProcessAtTheDeadline) {
  add_kernel("endless", host_kernel(+[](float*) {}));
  open(std::chrono::milliseconds(30));
  floats("y", {0});
  driver->hangs = true;
  const std::vector<tasks::Step> steps{launch_of("endless", {pointer_argument("y")})};
  EXPECT_EXIT(device->run(steps), testing::ExitedWithCode(kFaultExitCode),
              "timeout: ran longer than 30 ms; now in kernel 'endless' .grid 3x1x1");
  EXPECT_EXIT(device->run_timed(steps), testing::ExitedWithCode(kFaultExitCode),
              "timeout: ran longer than 30 ms; now in kernel 'endless'");
}

TEST_F(GpuDeviceTest, EncodesTensorMapsAtTheLaunch) {
  struct Map {
    std::array<std::byte, 128> bytes;
  };
  add_kernel("k", host_kernel(+[](Map map, unsigned char* y) {
               y[0] = static_cast<unsigned char>(map.bytes[127]);
             }));
  open();
  floats("x", std::vector<float>(64, 0), true);
  const std::size_t y = floats("y", {0});
  tasks::ResolvedTensorMap map;
  map.buffer = "x";
  map.offset_bytes = 16;
  map.extents = {4, 8};
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::TensorMap;
  argument.tensor_map = std::make_shared<const tasks::ResolvedTensorMap>(map);
  argument.size_bytes = 128;
  const std::vector<tasks::Step> steps{
      launch_of("k", {argument, pointer_argument("x"), pointer_argument("y")})};
  driver->kernels["k"] = host_kernel(+[](Map bytes, const float* x, unsigned char* out) {
    out[0] = static_cast<unsigned char>(bytes.bytes[127]);
    std::memcpy(out + 1, &x, 3); // the low bytes of the address
  });
  EXPECT_FALSE(device->run(steps).has_value());
  const auto written = contents<unsigned char>(y, 4);
  EXPECT_EQ(written[0], 0x2a);
  ASSERT_TRUE(driver->encoded.has_value());
  EXPECT_EQ(driver->encoded->first.extents, map.extents);
  GpuAddress expected = 0;
  std::memcpy(&expected, written.data() + 1, 3);
  EXPECT_EQ((driver->encoded->second - 16) & 0xffffffU, expected);
  driver->failures.emplace("encode", GpuError("cuTensorMapEncodeTiled", "CUDA_ERROR_INVALID_VALUE",
                                              "box", GpuFailure::InvalidLaunch, false));
  expect_fault(device->run(steps), Verdict::LaunchError, "cuTensorMapEncodeTiled");
}

TEST_F(GpuDeviceTest, KeepsAllocationsForTheNextCase) {
  open();
  floats("x", {1, 2});
  floats("y", {1});
  device->release_buffers();
  const std::size_t before = driver->count("allocate");
  floats("a", {1});
  floats("b", {5, 6, 7});
  EXPECT_EQ(driver->count("allocate"), before);
  EXPECT_EQ(driver->count("release"), 0U);
  const std::size_t c = device->allocate("c", 8, false);
  EXPECT_EQ(driver->count("allocate"), before + 1);
  EXPECT_FALSE(device->verify_guards().has_value());
  for (const float value : contents<float>(c, 2)) {
    EXPECT_TRUE(std::isnan(value)); // no data of earlier cases
  }
}

TEST_F(GpuDeviceTest, GivesUpKeptAllocationsWhenMemoryIsShort) {
  open();
  floats("x", {1, 2});
  device->release_buffers();
  const GpuError full("cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY", "", GpuFailure::OutOfMemory, false);
  driver->failures.emplace("allocate", full);
  device->allocate("large", std::size_t{5} << 20U, false);
  EXPECT_EQ(driver->count("release"), 1U);
  driver->failures.emplace("allocate", full);
  try {
    device->allocate("larger", std::size_t{9} << 20U, false);
    ADD_FAILURE() << "the allocation has worked";
  } catch (const DeviceFailure& failure) {
    EXPECT_EQ(failure.fault().verdict, Verdict::OverLimit);
    EXPECT_THAT(failure.fault().detail, HasSubstr("buffer 'larger' of 9437184 bytes"));
  }
  EXPECT_TRUE(device->usable());
}

TEST_F(GpuDeviceTest, RefusesModulesOfOtherDevices) {
  open();
  GpuModuleFile other = module_with({});
  other.architecture = "sm_75";
  const std::string path = write(other);
  try {
    device->load_module(path);
    ADD_FAILURE() << "the module was loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is for sm_75, but this device is fake_1"));
  }
  EXPECT_THROW(device->run({}), Error); // no module is loaded now
  EXPECT_THROW(device->load_module("/nowhere"), Error);
}

TEST_F(GpuDeviceTest, ReportsAModuleThatNeedsTooMuchMemory) {
  open();
  driver->failures.emplace("load_module", GpuError("cuModuleLoadData", "CUDA_ERROR_OUT_OF_MEMORY",
                                                   "", GpuFailure::OutOfMemory, false));
  try {
    device->load_module(write(module_with({})));
    ADD_FAILURE() << "the module was loaded";
  } catch (const DeviceFailure& failure) {
    EXPECT_EQ(failure.fault().verdict, Verdict::OverLimit);
  }
}

TEST_F(GpuDeviceTest, RefusesCopiesLargerThanTheBuffer) {
  open();
  const std::size_t x = floats("x", {1});
  std::vector<std::byte> bytes(5);
  EXPECT_THROW(device->upload(x, bytes), Error);
  EXPECT_THROW(device->download(x, bytes), Error);
}

TEST_F(GpuDeviceTest, WaitsOnceForAllPiecesOfADownload) {
  open();
  const std::size_t x = floats("x", {0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<float> pieces(5);
  const std::size_t before = driver->count("idle");
  device->download_pieces(x, {{1, 2}, {4, 1}, {6, 2}}, sizeof(float),
                          std::as_writable_bytes(std::span(pieces)));
  EXPECT_EQ(pieces, (std::vector<float>{1, 2, 4, 6, 7}));
  EXPECT_EQ(driver->count("queue_download"), 3U);
  EXPECT_EQ(driver->count("idle"), before + 1);
  EXPECT_EQ(driver->count("download"), 0U);
  EXPECT_THROW(device->download_pieces(x, {{7, 2}}, sizeof(float),
                                       std::as_writable_bytes(std::span(pieces))),
               Error);
}

TEST_F(GpuDeviceTest, PinsAsMuchOfTheArenaAsLargeCopiesUse) {
  auto another = std::make_unique<FakeGpuDriver>();
  const FakeGpuDriver& pinning = *another;
  std::vector<std::byte> arena(std::size_t{4} << 20U);
  GpuDeviceOptions options;
  options.helpers = write(module_with(gpu_helper_kernels()));
  options.arena = arena;
  const auto with_arena = make_gpu_device(std::move(another), std::move(options));
  const std::size_t x = with_arena->allocate("x", arena.size(), false);
  with_arena->download(x, std::span(arena).first(4096));
  std::vector<std::byte> elsewhere(arena.size());
  with_arena->download(x, elsewhere);
  EXPECT_EQ(pinning.count("pin"), 0U) << "neither for a few bytes nor for other memory";
  with_arena->download(x, std::span(arena).first(arena.size() / 2));
  with_arena->download(x, arena);
  EXPECT_EQ(pinning.count("pin"), 1U);
}

TEST_F(GpuDeviceTest, CopiesMemoryAcrossTheEndOfThePinnedPart) {
  constexpr std::size_t kStep = std::size_t{256} << 20U, kSmall = 4096;
  const Arena arena(2 * kStep);
  const ArenaView view(arena.fd());
  GpuDeviceOptions options;
  options.helpers = write(module_with(gpu_helper_kernels()));
  options.arena = view.all();
  const auto with_arena = make_gpu_device(std::make_unique<FakeGpuDriver>(), std::move(options));
  const std::size_t x = with_arena->allocate("x", std::size_t{1} << 20U, false);
  with_arena->download(x, view.all().first(std::size_t{1} << 20U)); // pins a step
  const auto across = view.all().subspan(kStep - kSmall / 2, kSmall);
  EXPECT_NO_THROW(with_arena->upload(x, across));
  EXPECT_NO_THROW(with_arena->download(x, across));
}

TEST_F(GpuDeviceTest, ReleasesEverything) {
  std::size_t left_over = 99;
  add_kernel("k", host_kernel(+[](float*) {}));
  open();
  driver->left_over = &left_over;
  floats("x", {1});
  EXPECT_FALSE(device->run_timed({launch_of("k", {pointer_argument("x")})}).has_value());
  device.reset();
  EXPECT_EQ(left_over, 0U);
}

} // namespace
} // namespace winnow::evaluators
