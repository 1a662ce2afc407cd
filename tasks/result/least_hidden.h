#pragma once

#include <string_view>

namespace winnow::tasks {

/// Minimum time for a speed at a hidden shape to count. A shorter time mostly measures how a launch
/// is split into blocks.
inline constexpr double kLeastHiddenGpuNs = 20e3;
inline constexpr double kLeastHiddenCpuNs = 500e3;
/// The minimum for a kind of device: "cpu", "cuda", "hip".
constexpr double least_hidden_ns(std::string_view device_kind) {
  return device_kind == "cpu" ? kLeastHiddenCpuNs : kLeastHiddenGpuNs;
}

} // namespace winnow::tasks
