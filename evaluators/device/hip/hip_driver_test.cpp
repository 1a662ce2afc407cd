// Tests the HIP driver with a fake libamdhip64. None of this has run on an AMD GPU.
#include "evaluators/device/hip/hip_functions.h"
#include "evaluators/device/hip/hip_test_support.h"

#include <tuple>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using HipDriver = HipDriverTest;

TEST_F(HipDriver, SaysWhatTheDeviceIs) {
  const auto driver = open_hip_driver(1);
  EXPECT_EQ(driver->kind(), "hip");
  EXPECT_EQ(driver->device_name(), "Double 1");
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
  const std::vector<GpuProbe> probes = probe_hip_devices();
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_TRUE(probes[0].availability.ok);
  EXPECT_EQ(probes[0].driver, "HIP 6.2");
  EXPECT_EQ(probes[1].ordinal, 1);
  EXPECT_EQ(probes[1].name, "Double 1");
  EXPECT_EQ(probes[1].pci_bus_id, "0000:01:00.0");
  EXPECT_EQ(probes[1].uuid, "GPU-ffffffffffffffff");
}

TEST_F(HipDriver, ProbeSaysWhyThereIsNoDevice) {
  for (const auto& [call, result, why] : {std::tuple{"hipInit", 101, "shows no AMD GPU"},
                                          std::tuple{"hipGetDeviceCount", 100, "shows no AMD GPU"},
                                          std::tuple{"hipInit", 35, "hipInit"}}) {
    hip_double_reset();
    hip_double_fail(call, 0, result);
    const std::vector<GpuProbe> probes = probe_hip_devices();
    ASSERT_EQ(probes.size(), 1U);
    EXPECT_EQ(probes[0].ordinal, -1);
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

TEST_F(HipDriver, CopiesAndFills) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats a(*driver, 4);
  driver->upload(a.address(), bytes_of({1, 2, 3, 4}));
  EXPECT_THAT(a.read(), ElementsAre(1, 2, 3, 4));
  driver->fill(a.address(), 0x40000000, 4, 2); // 2.0f
  driver->fill(a.address() + 8, 0x3f80, 2, 2); // the two halves of a float
  driver->fill(a.address() + 12, 0, 1, 4);
  const std::vector<float> values = a.read();
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 2);
  EXPECT_NEAR(values[2], 1.0, 0.01); // 0x3f803f80
  EXPECT_EQ(values[3], 0);
  driver->fill(a.address(), 1, 4, 0);
}

TEST_F(HipDriver, CopiesRows) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats a(*driver, 6);
  const DeviceFloats b(*driver, 4);
  driver->upload(a.address(), bytes_of({1, 2, 3, 4, 5, 6}));
  driver->copy(b.address(), 8, a.address(), 12, 8, 2);
  EXPECT_THAT(b.read(), ElementsAre(1, 2, 4, 5));
  driver->copy(b.address(), 0, a.address(), 0, 8, 1);
  driver->copy(b.address(), 8, a.address(), 8, 0, 5);
  EXPECT_THAT(b.read(), ElementsAre(1, 2, 4, 5));
}

TEST_F(HipDriver, LaunchesKernelsInOrder) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats x(*driver, 4);
  const DeviceFloats y(*driver, 4);
  const DeviceFloats z(*driver, 4);
  const GpuModule module = driver->load_module(image_of("axpy"));
  const Released unload([&] { driver->unload_module(module); });
  const GpuKernel kernel = driver->find_kernel(module, "axpy");
  driver->upload(x.address(), bytes_of({1, 2, 3, 4}));
  driver->upload(y.address(), bytes_of({10, 20, 30, 40}));
  Axpy axpy(x, y, z);
  driver->launch(axpy.launch(kernel));
  axpy.alpha = 100; // the launch copied its arguments when it was queued
  driver->copy(y.address(), 16, z.address(), 16, 16, 1);
  EXPECT_FALSE(driver->idle());
  while (!driver->idle()) {
  }
  EXPECT_THAT(y.read(), ElementsAre(12, 24, 36, 48));
}

TEST_F(HipDriver, KernelsHaveFacts) {
  const auto driver = open_hip_driver(0);
  const GpuModule module = driver->load_module(image_of("axpy\nnot_registered"));
  const Released unload([&] { driver->unload_module(module); });
  const GpuKernel kernel = driver->find_kernel(module, "axpy");
  const GpuKernelFacts facts = driver->kernel_facts(kernel);
  EXPECT_EQ(facts.registers, 32);
  EXPECT_EQ(facts.static_shared_bytes, 512);
  EXPECT_EQ(facts.local_bytes, 16);
  EXPECT_EQ(facts.max_threads, 1024);
  EXPECT_EQ(driver->resident_blocks(kernel, 256, 0), 8);
  EXPECT_EQ(failure_of([&] { driver->find_kernel(module, "other"); }), GpuFailure::BadModule);
}

TEST_F(HipDriver, CodeForSomethingElseIsABadModule) {
  const auto driver = open_hip_driver(0);
  const std::vector<std::byte> cubin(64, std::byte{0x7f});
  EXPECT_EQ(failure_of([&] { driver->load_module(cubin); }), GpuFailure::BadModule);
}

TEST_F(HipDriver, GraphsReplayWhatWasRecorded) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats x(*driver, 4);
  const DeviceFloats y(*driver, 4);
  const GpuModule module = driver->load_module(image_of("axpy"));
  const Released unload([&] { driver->unload_module(module); });
  driver->upload(x.address(), bytes_of({1, 1, 1, 1}));
  driver->upload(y.address(), bytes_of({0, 0, 0, 0}));
  Axpy axpy(x, y, y);
  const GpuKernel kernel = driver->find_kernel(module, "axpy");
  const GpuGraph graph = driver->record([&] {
    driver->launch(axpy.launch(kernel));
    driver->launch(axpy.launch(kernel));
  });
  const Released release([&] { driver->release_graph(graph); });
  EXPECT_TRUE(driver->idle()) << "recording must not run anything";
  EXPECT_THAT(y.read(), ElementsAre(0, 0, 0, 0));
  driver->launch(graph);
  driver->launch(graph);
  EXPECT_THAT(y.read(), ElementsAre(8, 8, 8, 8));
}

TEST_F(HipDriver, RecordingEndsWhenWhatIsRecordedFails) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats a(*driver, 4);
  EXPECT_THROW(driver->record([] { throw std::runtime_error("no"); }), std::runtime_error);
  // As with the real runtime, waiting during a recording invalidates it.
  EXPECT_THROW(driver->record([&] { static_cast<void>(a.read()); }), GpuError);
  driver->fill(a.address(), 0, 4, 4);
  EXPECT_THAT(a.read(), ElementsAre(0, 0, 0, 0));
}

TEST_F(HipDriver, MarksTellTheTimeBetweenThem) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats a(*driver, 4);
  driver->mark(0);
  driver->fill(a.address(), 0, 4, 4);
  driver->fill(a.address(), 1, 4, 4);
  driver->mark(1);
  // The double's clock counts work items.
  EXPECT_EQ(driver->between_marks(), std::chrono::microseconds(3));
}

TEST_F(HipDriver, PinsWhatItCanAndUnpinsAtTheEnd) {
  std::vector<std::byte> memory(4096);
  const auto driver = open_hip_driver(0);
  driver->pin(memory);
  EXPECT_THAT(hip_double_leaks(), HasSubstr("pinned"));
  hip_double_fail("hipHostRegister", 0, 801);
  driver->pin(memory);
}

TEST_F(HipDriver, WhatAmdGpusLackIsRefused) {
  const auto driver = open_hip_driver(0);
  GpuLaunch clustered;
  clustered.cluster = {2, 1, 1};
  EXPECT_EQ(failure_of([&] { driver->launch(clustered); }), GpuFailure::InvalidLaunch);
  EXPECT_EQ(failure_of([&] { driver->encode({}, 0); }), GpuFailure::InvalidLaunch);
}

TEST_F(HipDriver, LaunchesThatDoNotFitAreRefusedAndTheNextOneRuns) {
  const auto driver = open_hip_driver(0);
  const DeviceFloats a(*driver, 4);
  const GpuModule module = driver->load_module(image_of("axpy"));
  const Released unload([&] { driver->unload_module(module); });
  Axpy axpy(a, a, a);
  const GpuLaunch good = axpy.launch(driver->find_kernel(module, "axpy"));
  GpuLaunch bad = good;
  bad.block = {2048, 1, 1};
  EXPECT_EQ(failure_of([&] { driver->launch(bad); }), GpuFailure::InvalidLaunch);
  bad = good;
  bad.grid = {1U << 31, 1, 1};
  EXPECT_EQ(failure_of([&] { driver->launch(bad); }), GpuFailure::InvalidLaunch);
  bad = good;
  bad.cooperative = true;
  bad.grid = {100'000, 1, 1};
  EXPECT_EQ(failure_of([&] { driver->launch(bad); }), GpuFailure::CooperativeSize);
  bad.grid = {1, 1, 1};
  driver->launch(bad);
  driver->launch(good);
  EXPECT_EQ(a.read().size(), 4U);
}

TEST_F(HipDriver, FaultsOfKernelsComeBackWhenSomebodyWaitsAndStay) {
  auto driver = open_hip_driver(0);
  const GpuModule module = driver->load_module(image_of("axpy"));
  {
    const DeviceFloats a(*driver, 4);
    Axpy axpy(a, a, a);
    hip_double_fault_kernel(700);
    driver->launch(axpy.launch(driver->find_kernel(module, "axpy")));
    try {
      static_cast<void>(a.read());
      FAIL() << "the fault was lost";
    } catch (const GpuError& error) {
      EXPECT_EQ(error.failure(), GpuFailure::IllegalAddress);
      EXPECT_TRUE(error.sticky());
      EXPECT_THAT(error.what(), HasSubstr("hipErrorIllegalAddress"));
    }
    EXPECT_EQ(failure_of([&] { driver->idle(); }), GpuFailure::IllegalAddress);
  }
  EXPECT_EQ(failure_of([&] { driver->unload_module(module); }), GpuFailure::IllegalAddress);
}

} // namespace
} // namespace winnow::evaluators
