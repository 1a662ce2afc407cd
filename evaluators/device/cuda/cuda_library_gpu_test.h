#pragma once

#include "base/error.h"
#include "evaluators/device/cuda/cuda_driver.h"
#include "evaluators/device/cuda/cuda_library.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {

/// Tests of a library on the first CUDA device. open() skips the test, with the reason, if the
/// device or the library is missing.
class CudaLibraryGpu : public testing::Test {
protected:
  void open(const std::string& name) {
    try {
      driver = open_cuda_driver(0);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
    try {
      library = open_cuda_library(name, *driver);
    } catch (const GpuError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  GpuAddress put(tasks::DType type, const std::vector<double>& values) {
    std::vector<std::byte> bytes(values.size() * tasks::size_bytes(type));
    for (std::size_t i = 0; i < values.size(); ++i) {
      tasks::store_element(type, bytes.data() + i * tasks::size_bytes(type), values[i]);
    }
    const GpuAddress address = driver->allocate(bytes.size());
    driver->upload(address, bytes);
    return address;
  }

  std::vector<double> get(tasks::DType type, GpuAddress address, std::size_t count) {
    std::vector<std::byte> bytes(count * tasks::size_bytes(type));
    driver->download(bytes, address);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = tasks::load_element(type, bytes.data() + i * tasks::size_bytes(type));
    }
    return values;
  }

  /// The last operand after the step ran from a graph; its first run only prepares the recording.
  std::vector<double> result_of(const tasks::LibraryStep& step,
                                const std::vector<std::vector<double>>& operands) {
    std::vector<GpuAddress> addresses;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      addresses.push_back(put(step.operands[i].dtype, operands[i]));
    }
    const tasks::DType type = step.operands.back().dtype;
    const std::vector<double>& before = operands.back();
    library->queue(step, addresses);
    const GpuGraph graph = driver->record([&] { library->queue(step, addresses); });
    std::vector<std::byte> bytes(before.size() * tasks::size_bytes(type));
    for (std::size_t i = 0; i < before.size(); ++i) {
      tasks::store_element(type, bytes.data() + i * tasks::size_bytes(type), before[i]);
    }
    driver->upload(addresses.back(), bytes); // an operand that is added to has its value again
    driver->launch(graph);
    std::vector<double> result = get(type, addresses.back(), before.size());
    driver->release_graph(graph);
    return result;
  }

  std::unique_ptr<GpuDriver> driver;
  std::unique_ptr<GpuLibrary> library;
};

} // namespace winnow::evaluators
