// Tests everything that an evaluation does to a device, on a GpuDevice with the HIP driver and the
// fake libamdhip64.
#include "base/files.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/gpu/testing/gpu_driver_fake.h"
#include "evaluators/device/hip/hip_driver.h"
#include "evaluators/device/hip/test_double/hip_double.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::Verdict;
using testing::HasSubstr;

// Must run before the first call that loads the runtime, because a process looks for it only once.
[[maybe_unused]] const int kLibraryIsSet = setenv("WINNOW_HIP_LIBRARY", WINNOW_HIP_DOUBLE, 1);

constexpr int kCount = 1000;

void run_host_kernel(void* context, void** arguments, const unsigned* /*grid*/,
                     const unsigned* /*block*/) {
  const auto* kernel = static_cast<const HostKernel*>(context);
  kernel->run(std::vector<void*>(arguments, arguments + kernel->parameter_bytes.size()));
}

void run_axpy(const float* x, const float* y, float* z, float alpha, int n) {
  for (int i = 0; i < n; ++i) {
    z[i] = alpha * x[i] + y[i];
  }
}

void run_ones(float* z, int n) {
  std::fill_n(z, n, 1.0F);
}

tasks::ResolvedArgument buffer_argument(const std::string& name) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Pointer;
  argument.buffer = name;
  argument.size_bytes = sizeof(void*);
  return argument;
}

tasks::ResolvedArgument integer_argument(int value) {
  tasks::ResolvedArgument argument;
  argument.integer = value;
  argument.size_bytes = sizeof(int);
  return argument;
}

tasks::LaunchStep step_of(const std::string& kernel,
                          std::vector<tasks::ResolvedArgument> arguments) {
  tasks::LaunchStep step;
  step.kernel = kernel;
  step.grid = {4, 1, 1};
  step.block = {256, 1, 1};
  step.arguments = std::move(arguments);
  return step;
}

tasks::LaunchStep axpy_step() {
  tasks::ResolvedArgument alpha;
  alpha.kind = tasks::ResolvedArgument::Kind::Float;
  alpha.real = 2;
  alpha.size_bytes = sizeof(float);
  return step_of("axpy", {buffer_argument("x"), buffer_argument("y"), buffer_argument("z"), alpha,
                          integer_argument(kCount)});
}

class HipDevice : public testing::Test {
protected:
  HipDevice() : kernels_(FakeGpuDriver().kernels) {
    kernels_.emplace("axpy", host_kernel(&run_axpy));
    kernels_.emplace("ones", host_kernel(&run_ones));
    write_module("helpers", gpu_helper_kernels());
    write_module("module", {"axpy", "ones"});
    prepare_double();
  }
  void TearDown() override {
    device.reset();
    EXPECT_STREQ(hip_double_problems(), "");
    if (!device_is_spoilt) { // otherwise nothing can be released, and the process ends
      EXPECT_STREQ(hip_double_leaks(), "");
    }
  }

  void prepare_double() {
    hip_double_reset();
    for (auto& [name, kernel] : kernels_) {
      hip_double_register(name.c_str(), &run_host_kernel, &kernel, kernel.parameter_bytes.data(),
                          kernel.parameter_bytes.size());
    }
  }

  void open() {
    GpuDeviceOptions options;
    options.helpers = directory_.path() / "helpers";
    options.arena = arena_;
    device = make_gpu_device(open_hip_driver(0), std::move(options));
    device->load_module(directory_.path() / "module");
    for (const char* name : {"x", "y", "z"}) {
      buffers[name] = device->allocate(name, kCount * sizeof(float), std::string_view(name) != "z");
    }
    device->generate(buffers["x"], normal_, DType::F32, 1);
    device->generate(buffers["y"], normal_, DType::F32, 1);
  }

  std::vector<float> contents(const std::string& name) {
    std::vector<float> values(kCount);
    device->download(buffers[name], std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::unique_ptr<Device> device;
  std::map<std::string, std::size_t> buffers;
  bool device_is_spoilt = false;

private:
  void write_module(const std::string& file, const std::vector<std::string>& kernels) {
    GpuModuleFile module;
    module.architecture = "gfx90a";
    std::string names;
    for (const std::string& kernel : kernels) {
      module.symbols[kernel] = kernel;
      names += kernel + "\n";
    }
    const std::string image = fmt::format("hip double {}\n{}", names.size(), names);
    const auto* begin = reinterpret_cast<const std::byte*>(image.data());
    module.image.assign(begin, begin + image.size());
    write_file_atomic(directory_.path() / file, encode(module));
  }

  TemporaryDirectory directory_{"hip-device"};
  std::vector<std::byte> arena_ = std::vector<std::byte>(4096);
  std::map<std::string, HostKernel> kernels_; ///< the double keeps pointers to them
  tasks::GeneratorSpec normal_{tasks::GeneratorSpec::Kind::Normal, 0, 1};
};

TEST_F(HipDevice, RunsAPlan) {
  open();
  EXPECT_FALSE(device->run({axpy_step()}));
  const std::vector<float> x = contents("x");
  const std::vector<float> y = contents("y");
  const std::vector<float> z = contents("z");
  EXPECT_NE(x, y);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_EQ(z[i], 2 * x[i] + y[i]) << i;
  }
  EXPECT_GT(device->elapsed().count(), 0);
  EXPECT_FALSE(device->verify_guards());
}

TEST_F(HipDevice, TimesAPlanAsOneGraph) {
  open();
  const std::vector<tasks::Step> steps{axpy_step(), axpy_step()};
  for (int i = 0; i < 3; ++i) {
    device->fill_pattern(buffers["z"], 0);
    EXPECT_FALSE(device->run_timed(steps));
    EXPECT_GT(device->elapsed().count(), 0);
    EXPECT_NE(contents("z"), std::vector<float>(kCount));
  }
  const std::string calls = hip_double_calls();
  EXPECT_EQ(calls.find("hipStreamBeginCapture"), calls.rfind("hipStreamBeginCapture"));
  EXPECT_NE(calls.find("hipGraphLaunch"), calls.rfind("hipGraphLaunch"));
}

TEST_F(HipDevice, SeesWritesBehindABuffer) {
  open();
  EXPECT_FALSE(
      device->run({step_of("ones", {buffer_argument("z"), integer_argument(kCount + 5)})}));
  const auto fault = device->verify_guards();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->verdict, Verdict::OutOfBounds);
  EXPECT_THAT(fault->detail, HasSubstr("buffer 'z' was written at byte 4000"));
}

TEST_F(HipDevice, FaultsOfKernelsBecomeVerdicts) {
  open();
  device_is_spoilt = true;
  hip_double_fault_kernel(700);
  const auto fault = device->run({axpy_step()});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->verdict, Verdict::OutOfBounds);
  EXPECT_THAT(fault->detail, HasSubstr("kernel 'axpy'"));
  EXPECT_THAT(fault->detail, HasSubstr("hipErrorIllegalAddress"));
}

TEST_F(HipDevice, ADeviceThatIsLostIsNotTheCandidatesFault) {
  open();
  device_is_spoilt = true;
  hip_double_fault_kernel(214); // hipErrorECCNotCorrectable
  const auto fault = device->run({axpy_step()});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->verdict, Verdict::Infrastructure);
}

// Whether a call releases something. After the loss of the device, its failure does not matter.
bool releases(const std::string& call) {
  return call == "hipFree" || call == "hipModuleUnload" ||
         call.find("Destroy") != std::string::npos;
}

TEST_F(HipDevice, WhateverFailsNothingLeaks) {
  const auto whole_life = [&] {
    open();
    // A plan with two steps is timed as a graph.
    const std::vector<tasks::Step> steps{axpy_step(), axpy_step()};
    std::optional<DeviceFault> fault = device->run(steps);
    if (!fault) {
      fault = device->run_timed(steps);
    }
    device->restore(buffers["x"]);
    device->checksum(buffers["z"]);
    device->verify_guards();
    contents("z");
    device.reset();
    return fault;
  };
  EXPECT_FALSE(whole_life());
  std::istringstream lines(hip_double_calls());
  const std::set<std::string> calls{std::istream_iterator<std::string>(lines), {}};
  EXPECT_GE(calls.size(), 30U);
  for (const std::string& call : calls) {
    for (const int skipped : {0, 2}) {
      prepare_double();
      hip_double_fail(call.c_str(), skipped, 2); // hipErrorOutOfMemory
      try {
        whole_life();
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("hipErrorOutOfMemory")) << call;
      }
      device.reset();
      if (!releases(call)) {
        EXPECT_STREQ(hip_double_problems(), "") << call;
        EXPECT_STREQ(hip_double_leaks(), "") << call;
      }
    }
  }
}

} // namespace
} // namespace winnow::evaluators
