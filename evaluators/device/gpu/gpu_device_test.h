// Shared parts of the tests of the GPU device over the fake driver.
#pragma once

#include "base/files.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/gpu/testing/gpu_driver_fake.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {

inline GpuModuleFile module_with(const std::vector<std::string>& kernels) {
  GpuModuleFile module;
  module.architecture = "fake_1";
  module.image = {std::byte{1}};
  for (const std::string& kernel : kernels) {
    module.symbols[kernel] = kernel;
  }
  return module;
}

inline tasks::ResolvedArgument pointer_argument(const std::string& buffer,
                                                std::int64_t offset = 0) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Pointer;
  argument.buffer = buffer;
  argument.offset_bytes = offset;
  argument.size_bytes = 8;
  return argument;
}

inline tasks::ResolvedArgument integer_argument(std::int64_t value, int bytes) {
  tasks::ResolvedArgument argument;
  argument.integer = value;
  argument.size_bytes = bytes;
  return argument;
}

inline tasks::ResolvedArgument real_argument(double value, int bytes) {
  tasks::ResolvedArgument argument;
  argument.kind = tasks::ResolvedArgument::Kind::Float;
  argument.real = value;
  argument.size_bytes = bytes;
  return argument;
}

inline tasks::LaunchStep launch_of(const std::string& kernel,
                                   std::vector<tasks::ResolvedArgument> arguments) {
  tasks::LaunchStep step;
  step.kernel = kernel;
  step.grid = {3, 1, 1};
  step.block = {128, 1, 1};
  step.arguments = std::move(arguments);
  return step;
}

/// A device over the fake driver. Its module has every kernel that add_kernel() added.
class GpuDeviceTest : public testing::Test {
protected:
  GpuDeviceTest() : owned_(std::make_unique<FakeGpuDriver>()), driver(owned_.get()) {}

  void add_kernel(const std::string& name, HostKernel kernel) {
    driver->kernels.emplace(name, std::move(kernel));
    kernels_.push_back(name);
  }

  std::string write(const GpuModuleFile& module) {
    const auto path = directory_.path() / std::to_string(++files_);
    write_file_atomic(path, encode(module));
    return path.string();
  }

  Device& open(std::chrono::milliseconds deadline = {}) {
    device_options.helpers = write(module_with(gpu_helper_kernels()));
    device_options.deadline = deadline;
    device_options.on_fatal = [](const DeviceFault& fault) {
      std::fprintf(stderr, "%s: %s\n", std::string(to_string(fault.verdict)).c_str(),
                   fault.detail.c_str());
    };
    device = make_gpu_device(std::move(owned_), std::move(device_options));
    device->load_module(write(module_with(kernels_)));
    return *device;
  }

  std::size_t floats(const std::string& name, const std::vector<float>& values,
                     bool read_only = false) {
    const std::size_t buffer = device->allocate(name, values.size() * sizeof(float), read_only);
    device->upload(buffer, std::as_bytes(std::span(values)));
    return buffer;
  }

  template <class T> std::vector<T> contents(std::size_t buffer, std::size_t count) {
    std::vector<T> values(count);
    device->download(buffer, std::as_writable_bytes(std::span(values)));
    return values;
  }

  GpuDeviceOptions device_options; ///< for open()

private:
  TemporaryDirectory directory_{"gpu-device-test"};
  int files_ = 0;
  std::unique_ptr<FakeGpuDriver> owned_;
  std::vector<std::string> kernels_;

protected:
  FakeGpuDriver* driver;
  std::unique_ptr<Device> device;
};

inline void expect_fault(const std::optional<DeviceFault>& fault, tasks::Verdict verdict,
                         const std::string& part) {
  ASSERT_TRUE(fault.has_value()) << "no fault; expected " << part;
  EXPECT_EQ(fault->verdict, verdict) << fault->detail;
  EXPECT_THAT(fault->detail, testing::HasSubstr(part));
}

} // namespace winnow::evaluators
