#pragma once

#include "evaluators/device/cpu/cpu_device.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::evaluators {

/// Options for small hand-written test modules. They are built like the compile worker's modules.
struct TestModule {
  bool check = false;
  std::string compiler; ///< empty: clang++ if it is installed, else g++
};

/// "" if a compiler and ld are installed, else the reason.
std::string why_no_compiler();

/// `kernels` are instantiated names like "scale<4>". The returned file exists until the program
/// ends.
std::filesystem::path build_module(const std::string& source,
                                   const std::vector<std::string>& kernels,
                                   const TestModule& how = {});

tasks::LaunchStep launch_step(const std::string& kernel, std::int64_t blocks, std::int64_t threads,
                              std::vector<tasks::ResolvedArgument> arguments);
tasks::ResolvedArgument buffer_argument(const std::string& name);
tasks::ResolvedArgument int_argument(std::int64_t value);
tasks::ResolvedArgument float_argument(double value);

/// Skips its tests when no compiler is installed.
class CpuDeviceTest : public testing::Test {
protected:
  void SetUp() override;

  /// A device that prints a fatal fault to stderr as "verdict: detail".
  static std::unique_ptr<Device> make(unsigned workers = 2, int deadline_ms = 0);
  /// Loads `source`, whose kernel `k` takes a buffer y of `count` floats with the value 0.
  static std::unique_ptr<Device> load(const std::string& source, std::size_t count,
                                      int deadline_ms = 0);
  static std::vector<tasks::Step> on_y(std::int64_t blocks, std::int64_t threads);
};

/// For messages of failed tests.
inline void PrintTo(const CheckFinding& finding, std::ostream* out) {
  *out << (finding.certain ? "certain: " : "perhaps: ") << finding.detail;
}

template <class T> void upload(Device& device, std::size_t buffer, const std::vector<T>& values) {
  device.upload(buffer, std::as_bytes(std::span(values)));
}
template <class T> std::vector<T> download(Device& device, std::size_t buffer, std::size_t count) {
  std::vector<T> values(count);
  device.download(buffer, std::as_writable_bytes(std::span(values)));
  return values;
}

} // namespace winnow::evaluators
