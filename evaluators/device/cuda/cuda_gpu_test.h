#pragma once

#include "base/files.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/module.h"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::evaluators {

/// Tests on the first CUDA device. Skipped, with the reason, if there is no device or no NVRTC.
class CudaGpuTest : public testing::Test {
protected:
  void SetUp() override;

  /// Compiles with NVRTC. If that fails, the test fails with the compiler's message.
  CompileResult build(const std::string& source, const std::vector<std::string>& kernels);
  CompileResult build_for(const std::string& architecture, const std::string& source,
                          const std::vector<std::string>& kernels);
  /// Opens a device and loads `source`, compiled with these kernels.
  std::unique_ptr<Device> open(const std::string& source, const std::vector<std::string>& kernels,
                               std::chrono::milliseconds deadline = std::chrono::seconds(20));

  static tasks::LaunchStep step(const std::string& kernel, std::int64_t blocks,
                                std::int64_t threads,
                                std::vector<tasks::ResolvedArgument> arguments);
  static tasks::ResolvedArgument pointer(const std::string& buffer, std::int64_t offset = 0);
  static tasks::ResolvedArgument integer(std::int64_t value, int bytes = 4);

  DeviceReport probe_; ///< of device 0
};

template <class T>
std::size_t put(Device& device, const std::string& name, const std::vector<T>& values,
                bool read_only = false) {
  const std::size_t buffer = device.allocate(name, values.size() * sizeof(T), read_only);
  device.upload(buffer, std::as_bytes(std::span(values)));
  return buffer;
}

template <class T> std::vector<T> get(Device& device, std::size_t buffer, std::size_t count) {
  std::vector<T> values(count);
  device.download(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

/// "out_of_bounds: kernel 'k' (grid ...", or "no fault".
std::string text_of(const std::optional<DeviceFault>& fault);

} // namespace winnow::evaluators
