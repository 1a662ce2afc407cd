// Shared parts of the HIP driver's tests: the double's axpy, and owners of driver objects.
#pragma once

#include "evaluators/device/hip/hip_driver.h"
#include "evaluators/device/hip/test_double/hip_double.h"

#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {

// Must run before the first call that loads the runtime, because a process looks for it only once.
[[maybe_unused]] inline const int kLibraryIsSet =
    setenv("WINNOW_HIP_LIBRARY", WINNOW_HIP_DOUBLE, 1);

template <class T> T argument(void** arguments, int index) {
  return *static_cast<const T*>(arguments[index]);
}

// z = alpha * x + y
inline void run_axpy(void* /*context*/, void** arguments, const unsigned* grid,
                     const unsigned* block) {
  const auto* x = argument<const float*>(arguments, 0);
  const auto* y = argument<const float*>(arguments, 1);
  auto* z = argument<float*>(arguments, 2);
  const auto n = static_cast<unsigned>(argument<int>(arguments, 4));
  for (unsigned i = 0; i < grid[0] * block[0] && i < n; ++i) {
    z[i] = argument<float>(arguments, 3) * x[i] + y[i];
  }
}

inline std::vector<std::byte> image_of(const std::string& names) {
  const std::string text = fmt::format("hip double {}\n{}", names.size(), names);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

/// Device memory. The destructor releases it.
class DeviceFloats {
public:
  DeviceFloats(GpuDriver& driver, std::size_t count)
      : driver_(driver), count_(count), address_(driver.allocate(count * sizeof(float))) {}
  ~DeviceFloats() {
    try {
      driver_.release(address_);
    } catch (const GpuError&) { // some tests make it fail
    }
  }
  DeviceFloats(const DeviceFloats&) = delete; // owns the memory
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  GpuAddress address() const { return address_; }
  std::vector<float> read() const {
    std::vector<float> values(count_);
    driver_.download(std::as_writable_bytes(std::span(values)), address_);
    return values;
  }

private:
  GpuDriver& driver_;
  std::size_t count_;
  GpuAddress address_;
};

/// A module or a graph. The destructor releases it.
class Released {
public:
  explicit Released(std::function<void()> release) : release_(std::move(release)) {}
  ~Released() {
    try {
      release_();
    } catch (const GpuError&) { // some tests make it fail
    }
  }
  Released(const Released&) = delete; // releases once
  Released& operator=(const Released&) = delete;

private:
  std::function<void()> release_;
};

struct Axpy {
  float alpha = 2;
  int n = 4;
  std::array<const void*, 3> buffers{};

  Axpy(const DeviceFloats& x, const DeviceFloats& y, const DeviceFloats& z)
      : buffers{pointer(x), pointer(y), pointer(z)} {}
  GpuLaunch launch(GpuKernel kernel) {
    GpuLaunch launch;
    launch.kernel = kernel;
    launch.block = {256, 1, 1};
    launch.arguments = {&buffers[0], &buffers[1], &buffers[2], &alpha, &n};
    return launch;
  }

private:
  static const void* pointer(const DeviceFloats& floats) {
    return reinterpret_cast<const void*>(floats.address());
  }
};

class HipDriverTest : public testing::Test {
protected:
  void SetUp() override { prepare_double(); }
  void TearDown() override {
    EXPECT_STREQ(hip_double_problems(), "");
    EXPECT_STREQ(hip_double_leaks(), "");
  }

  static void prepare_double() {
    hip_double_reset();
    const std::size_t sizes[] = {8, 8, 8, 4, 4};
    hip_double_register("axpy", &run_axpy, nullptr, sizes, std::size(sizes));
  }
};

inline GpuFailure failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const GpuError& error) {
    return error.failure();
  }
  ADD_FAILURE() << "nothing failed";
  return GpuFailure::Other;
}

} // namespace winnow::evaluators
