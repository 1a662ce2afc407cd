// The HIP driver over a double of libamdhip64: whether it finds the runtime's functions, hands on
// what it is given and says what failed. No AMD GPU has run any of this.
#include "evaluators/device/hip/hip_driver.h"
#include "evaluators/device/hip/hip_functions.h"
#include "evaluators/device/hip/testing/hip_fake.h"

#include <cstdlib>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using testing::HasSubstr;

constexpr int kOutOfMemory = 2; // hipErrorOutOfMemory
constexpr int kIllegalAddress = 700;

// Before the first call that loads the runtime: it is looked for once a process.
[[maybe_unused]] const int kLibraryIsSet = setenv("WINNOW_HIP_LIBRARY", WINNOW_HIP_DOUBLE, 1);

class HipDriver : public testing::Test {
protected:
  void SetUp() override { hip_double_reset(); }
  void TearDown() override { EXPECT_EQ(hip_double_alive(), 0U); }
};

GpuFailure failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const GpuError& error) {
    return error.failure();
  }
  ADD_FAILURE() << "nothing failed";
  return GpuFailure::Other;
}

/// What `act` calls.
std::string calls_of(const std::function<void()>& act) {
  const std::string before = hip_double_calls();
  act();
  return std::string(hip_double_calls()).substr(before.size());
}

/// As the double writes it.
std::string text_of(const void* pointer) {
  std::ostringstream text;
  text << pointer;
  return text.str();
}

TEST_F(HipDriver, SaysWhatTheDeviceIs) {
  const auto driver = open_hip_driver(1);
  const tasks::DeviceFacts facts = driver->facts();
  EXPECT_EQ(facts.architecture, "gfx90a");
  EXPECT_EQ(facts.warp_size, 64);
  EXPECT_EQ(facts.sm_count, 104);
  EXPECT_EQ(facts.max_shared_bytes, 65536);
  EXPECT_EQ(facts.memory_bytes, std::int64_t{64} << 30);
  EXPECT_EQ(facts.max_cluster_blocks, 0);
  EXPECT_FALSE(facts.tensor_maps);
  EXPECT_TRUE(facts.cooperative);
  EXPECT_DOUBLE_EQ(facts.peak_bytes_per_second, 1638.4e9); // one of the two dies of an MI250
}

TEST_F(HipDriver, ProbesEveryDevice) {
  const std::vector<DeviceReport> probes = probe_hip_devices();
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_TRUE(probes[0].availability.ok);
  EXPECT_EQ(probes[0].driver, "HIP 6.2");
  EXPECT_EQ(probes[1].id, "hip:1");
  EXPECT_EQ(probes[1].name, "Double 1");
  EXPECT_EQ(probes[1].uuid, "GPU-ffffffffffffffff");
}

TEST_F(HipDriver, ProbeSaysWhyThereIsNoDevice) {
  for (const auto& [call, result, why] : {std::tuple{"hipInit", 101, "shows no AMD GPU"},
                                          std::tuple{"hipGetDeviceCount", 100, "shows no AMD GPU"},
                                          std::tuple{"hipInit", 35, "hipInit"}}) {
    hip_double_reset();
    hip_double_fail(call, result);
    const std::vector<DeviceReport> probes = probe_hip_devices();
    ASSERT_EQ(probes.size(), 1U);
    EXPECT_EQ(probes[0].id, "hip");
    EXPECT_FALSE(probes[0].availability.ok);
    EXPECT_THAT(probes[0].availability.why, HasSubstr(why));
  }
}

TEST_F(HipDriver, OpeningADeviceThatIsNotThereSaysSo) {
  EXPECT_THROW(open_hip_driver(2), DeviceUnavailable);
  EXPECT_THROW(open_hip_driver(-1), DeviceUnavailable);
}

TEST_F(HipDriver, LibrariesThatCannotServeAreNamed) {
  try {
    hip::load_functions("/nowhere/libamdhip64.so");
    FAIL() << "it was loaded";
  } catch (const DeviceUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/libamdhip64.so"));
  }
  try {
    hip::load_functions("libm.so.6");
    FAIL() << "it was taken for a HIP runtime";
  } catch (const DeviceUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("lacks hipDeviceGetAttribute"));
  }
}

TEST_F(HipDriver, Rocm5HasAnotherStructAndNoCooperativeLaunchOfModules) {
  const hip::Functions rocm5 = hip::load_functions(WINNOW_HIP_DOUBLE_ROCM5);
  EXPECT_EQ(rocm5.hipGetDevicePropertiesR0600, nullptr);
  EXPECT_EQ(rocm5.hipInit(0), hip::kSuccess);
  EXPECT_EQ(hip::architecture_of(rocm5, 0), "gfx90a");
  EXPECT_FALSE(hip::facts_of(rocm5, 0).cooperative);
  EXPECT_EQ(hip::uuid_of(rocm5, 0), "");
}

TEST_F(HipDriver, TheSystemsRuntimeHasEverythingThatIsNeeded) {
  try {
    // Calls no function, because the double has functions of the same names.
    EXPECT_NE(hip::load_functions("").hipModuleLaunchKernel, nullptr);
  } catch (const DeviceUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be loaded")) << "it is there, but lacks something";
    GTEST_SKIP() << error.what();
  }
}

TEST_F(HipDriver, HandsOnCopiesAndFills) {
  const auto driver = open_hip_driver(0); // its stream is 0x1, its marks are 0x2 and 0x3
  std::vector<std::byte> host(16);
  const std::string memory = text_of(host.data());
  const std::string synchronized = "hipStreamSynchronize 0x1\n";
  EXPECT_EQ(calls_of([&] { driver->upload(0x40, host); }),
            "hipMemcpyHtoDAsync 0x40 " + memory + " 16 0x1\n" + synchronized);
  EXPECT_EQ(calls_of([&] { driver->download(host, 0x40); }),
            "hipMemcpyDtoHAsync " + memory + " 0x40 16 0x1\n" + synchronized);
  EXPECT_EQ(calls_of([&] { driver->queue_download(host, 0x40); }),
            "hipMemcpyDtoHAsync " + memory + " 0x40 16 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->copy(0x40, 8, 0x80, 12, 4, 2); }),
            "hipMemcpy2DAsync 0x40 8 0x80 12 4 2 3 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->copy(0x40, 0, 0x80, 0, 8, 1); }),
            "hipMemcpyDtoDAsync 0x40 0x80 8 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->copy(0x40, 8, 0x80, 8, 0, 5); }), "");
  EXPECT_EQ(calls_of([&] { driver->fill(0x40, 0x40000000, 4, 3); }),
            "hipMemsetD32Async 0x40 1073741824 3 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->fill(0x40, 0x3f80, 2, 3); }),
            "hipMemsetD16Async 0x40 16256 3 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->fill(0x40, 7, 1, 3); }), "hipMemsetD8Async 0x40 7 3 0x1\n");
  EXPECT_EQ(calls_of([&] { driver->fill(0x40, 1, 4, 0); }), "");
}

TEST_F(HipDriver, HandsOnLaunches) {
  const auto driver = open_hip_driver(0);
  int argument = 0;
  GpuLaunch launch;
  launch.kernel = 0x50;
  launch.grid = {1, 2, 3};
  launch.block = {4, 5, 6};
  launch.shared_bytes = 7;
  launch.arguments = {&argument};
  const std::string launched = "Kernel 0x50 1 2 3 4 5 6 7 0x1 " + text_of(&argument);
  EXPECT_EQ(calls_of([&] { driver->launch(launch); }), "hipModuleLaunch" + launched + " 0\n");
  launch.cooperative = true;
  EXPECT_EQ(calls_of([&] { driver->launch(launch); }),
            "hipModuleLaunchCooperative" + launched + "\n");
}

TEST_F(HipDriver, RecordsGraphsAndReplaysThem) {
  const auto driver = open_hip_driver(0);
  GpuGraph graph = 0;
  EXPECT_EQ(calls_of([&] { graph = driver->record([&] { driver->fill(0x40, 0, 1, 4); }); }),
            "hipStreamBeginCapture 0x1 1\n"
            "hipMemsetD8Async 0x40 0 4 0x1\n"
            "hipStreamEndCapture 0x1\n"
            "hipGraphInstantiateWithFlags 0x4 0\n"
            "hipGraphDestroy 0x4\n");
  EXPECT_EQ(calls_of([&] { driver->launch(graph); }), "hipGraphLaunch 0x5 0x1\n");
  driver->release_graph(graph);
}

TEST_F(HipDriver, RecordingEndsWhenWhatIsRecordedFails) {
  const auto driver = open_hip_driver(0);
  EXPECT_EQ(calls_of([&] {
              EXPECT_THROW(driver->record([] { throw std::runtime_error("no"); }),
                           std::runtime_error);
            }),
            "hipStreamBeginCapture 0x1 1\n"
            "hipStreamEndCapture 0x1\n"
            "hipGraphDestroy 0x4\n"
            "hipGetLastError\n");
}

TEST_F(HipDriver, MarksTellTheTimeBetweenThem) {
  const auto driver = open_hip_driver(0);
  EXPECT_EQ(calls_of([&] {
              driver->mark(0);
              driver->mark(1);
              EXPECT_EQ(driver->between_marks(), std::chrono::microseconds(3));
            }),
            "hipEventRecord 0x2 0x1\n"
            "hipEventRecord 0x3 0x1\n"
            "hipEventSynchronize 0x3\n"
            "hipEventElapsedTime 0x2 0x3\n");
}

TEST_F(HipDriver, KernelsHaveFacts) {
  const auto driver = open_hip_driver(0);
  const GpuKernelFacts facts = driver->kernel_facts(0x50);
  EXPECT_EQ(facts.registers, 104); // 100 and the attribute's number
  EXPECT_EQ(facts.static_shared_bytes, 101);
  EXPECT_EQ(facts.local_bytes, 103);
  EXPECT_EQ(facts.max_threads, 100);
  EXPECT_EQ(driver->resident_blocks(0x50, 256, 0), 8);
}

TEST_F(HipDriver, PinsWhatItCanAndUnpinsAtTheEnd) {
  std::vector<std::byte> memory(4096);
  const auto driver = open_hip_driver(0);
  const std::size_t before = hip_double_alive();
  driver->pin(memory);
  EXPECT_EQ(hip_double_alive(), before + 1);
  hip_double_fail("hipHostRegister", 801);
  driver->pin(memory);
  EXPECT_EQ(hip_double_alive(), before);
}

TEST_F(HipDriver, WhatAmdGpusLackIsRefused) {
  const auto driver = open_hip_driver(0);
  GpuLaunch clustered;
  clustered.cluster = {2, 1, 1};
  EXPECT_EQ(failure_of([&] { driver->launch(clustered); }), GpuFailure::InvalidLaunch);
  EXPECT_EQ(failure_of([&] { driver->encode({}, 0); }), GpuFailure::InvalidLaunch);
}

struct Classified {
  hip::Result result;
  GpuFailure failure;
  bool sticky;
};

TEST_F(HipDriver, ErrorsAreClassified) {
  for (const Classified& known : {Classified{1, GpuFailure::InvalidLaunch, false},
                                  {2, GpuFailure::OutOfMemory, false},
                                  {4, GpuFailure::DeviceLost, true},
                                  {9, GpuFailure::InvalidLaunch, false},
                                  {98, GpuFailure::BadModule, false},
                                  {100, GpuFailure::DeviceLost, true},
                                  {209, GpuFailure::BadModule, false},
                                  {214, GpuFailure::DeviceLost, true},
                                  {400, GpuFailure::Other, false},
                                  {500, GpuFailure::BadModule, false},
                                  {700, GpuFailure::IllegalAddress, true},
                                  {701, GpuFailure::InvalidLaunch, false},
                                  {702, GpuFailure::LaunchTimeout, true},
                                  {710, GpuFailure::Assertion, true},
                                  {719, GpuFailure::Trap, true},
                                  {720, GpuFailure::CooperativeSize, false},
                                  {999, GpuFailure::DeviceLost, true}}) {
    const ErrorClass found = hip::classify(known.result);
    EXPECT_EQ(found.failure, known.failure) << known.result;
    EXPECT_EQ(found.sticky, known.sticky) << known.result;
  }
}

/// Memory, a module or a graph, released with its owner.
class Released {
public:
  Released(std::uintptr_t what, std::function<void(std::uintptr_t)> release)
      : what_(what), release_(std::move(release)) {}
  ~Released() {
    try {
      release_(what_);
    } catch (const GpuError&) { // tests make it fail
    }
  }
  Released(const Released&) = delete; // releases once
  Released& operator=(const Released&) = delete;
  std::uintptr_t get() const { return what_; }

private:
  std::uintptr_t what_;
  std::function<void(std::uintptr_t)> release_;
};

// Everything that the interface has, once.
void whole_life() {
  std::vector<std::byte> host(4096);
  const auto driver = open_hip_driver(0);
  driver->pin(host);
  const Released memory(driver->allocate(16), [&](auto it) { driver->release(it); });
  const Released module(driver->load_module(host), [&](auto it) { driver->unload_module(it); });
  GpuLaunch launch;
  launch.kernel = driver->find_kernel(module.get(), "axpy");
  launch.arguments = {host.data()};
  driver->kernel_facts(launch.kernel);
  driver->resident_blocks(launch.kernel, 256, 0);
  driver->upload(memory.get(), host);
  for (const int bytes : {1, 2, 4}) {
    driver->fill(memory.get(), 0, bytes, 4);
  }
  const Released graph(driver->record([&] { driver->launch(launch); }),
                       [&](auto it) { driver->release_graph(it); });
  launch.cooperative = true;
  driver->launch(launch);
  driver->mark(0);
  driver->launch(graph.get());
  driver->copy(memory.get(), 8, memory.get(), 8, 4, 2);
  driver->copy(memory.get(), 8, memory.get(), 8, 8, 1);
  driver->mark(1);
  driver->between_marks();
  driver->idle();
  driver->download(host, memory.get());
}

std::set<std::string> calls_of_a_whole_life() {
  whole_life();
  std::istringstream lines(hip_double_calls());
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

// What must go on whatever these return: the end of things, and what is optional.
bool may_fail_unnoticed(const std::string& call) {
  static const std::set<std::string> kCalls{
      "hipFree",         "hipModuleUnload",  "hipGraphExecDestroy", "hipGraphDestroy",
      "hipEventDestroy", "hipStreamDestroy", "hipHostRegister",     "hipHostUnregister",
      "hipGetLastError", "hipDeviceGetUuid"};
  return kCalls.count(call) != 0;
}

TEST_F(HipDriver, EveryCallThatFailsIsReportedAndNothingLeaks) {
  const std::set<std::string> calls = calls_of_a_whole_life();
  EXPECT_GE(calls.size(), 38U);
  for (const std::string& call : calls) {
    hip_double_reset();
    hip_double_fail(call.c_str(), kOutOfMemory);
    std::string reported;
    try {
      whole_life();
    } catch (const GpuError& error) {
      reported = error.what();
      EXPECT_EQ(error.failure(), GpuFailure::OutOfMemory) << call;
      EXPECT_FALSE(error.sticky()) << call;
    } catch (const DeviceUnavailable& error) {
      reported = error.what();
    }
    if (!may_fail_unnoticed(call)) {
      EXPECT_THAT(reported, HasSubstr("hipErrorOutOfMemory")) << call;
    }
    EXPECT_EQ(hip_double_alive(), 0U) << call;
  }
}

TEST_F(HipDriver, FaultsOfKernelsComeBackWhenSomebodyWaits) {
  const auto driver = open_hip_driver(0);
  hip_double_fail("hipStreamSynchronize", kIllegalAddress);
  try {
    driver->upload(0x40, {});
    FAIL() << "the fault was lost";
  } catch (const GpuError& error) {
    EXPECT_EQ(error.failure(), GpuFailure::IllegalAddress);
    EXPECT_TRUE(error.sticky());
    EXPECT_THAT(error.what(), HasSubstr("hipErrorIllegalAddress"));
  }
  hip_double_fail("hipStreamQuery", kIllegalAddress);
  EXPECT_EQ(failure_of([&] { driver->idle(); }), GpuFailure::IllegalAddress);
  hip_double_fail("hipModuleUnload", kIllegalAddress);
  EXPECT_EQ(failure_of([&] { driver->unload_module(0x50); }), GpuFailure::IllegalAddress);
}

TEST_F(HipDriver, IsIdleWhenTheRuntimeSaysSo) {
  const auto driver = open_hip_driver(0);
  hip_double_fail("hipStreamQuery", hip::kNotReady);
  EXPECT_FALSE(driver->idle());
  EXPECT_TRUE(driver->idle());
}

// Or the tests above would prove nothing.
TEST_F(HipDriver, ItsDoubleSeesLeaks) {
  const auto driver = open_hip_driver(0);
  const std::size_t before = hip_double_alive();
  driver->allocate(100);
  EXPECT_EQ(hip_double_alive(), before + 1);
  hip_double_reset();
}

} // namespace
} // namespace winnow::evaluators
