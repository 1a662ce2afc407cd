#pragma once

#include "tasks/result/evaluation.h"

#include <string_view>

namespace winnow::tasks {

/// A kernel is fitted to the shown shapes if its speed at a hidden shape that counts is a smaller
/// share of its speed at the search shapes. Where the kernel itself takes less than
/// least_hidden_ns(), the shape does not count.
inline constexpr double kFittedShare = 0.5;
inline constexpr std::string_view kFitted = "fitted to the shown shapes";

/// By the promotion shapes of this evaluation, beside the task's baseline. False if no promotion
/// shape was timed.
bool is_fitted(const Evaluation& evaluation);

} // namespace winnow::tasks
