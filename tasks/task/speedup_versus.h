#pragma once

#include <string_view>

namespace winnow::tasks {

constexpr std::string_view kVersusBaseline = "baseline.cu";
constexpr std::string_view kVersusEager = "PyTorch eager";

/// What the speedups of a task are against, as all outputs name it. `baseline`: the text of its
/// baseline.cu, or the begin of the text; empty: the task has none.
constexpr std::string_view speedup_versus(std::string_view baseline) {
  return baseline.empty() ? kVersusEager : kVersusBaseline;
}

} // namespace winnow::tasks
