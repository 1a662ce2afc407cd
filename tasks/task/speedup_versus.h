#pragma once

#include <string_view>

namespace winnow::tasks {

// What the speedups of a task are against, as all outputs name it: speedup_versus() in baseline.h.
constexpr std::string_view kVersusBaseline = "baseline.cu";
constexpr std::string_view kVersusCpuBaseline = "baseline.cpu.cu";
constexpr std::string_view kVersusEager = "PyTorch eager"; ///< the task has no baseline.cu

} // namespace winnow::tasks
