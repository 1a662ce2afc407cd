#pragma once

#include "tasks/result/evaluation.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace winnow::evaluators {

/// What the fastest launch of the baseline must take at a hidden shape for its speed to count. What
/// is shorter measures how a launch is split; such a shape decides whether a kernel is right.
constexpr double kLeastHiddenGpuNs = 20e3;
constexpr double kLeastHiddenCpuNs = 500e3;
/// Of a kind of device: "cpu", "cuda", "hip".
double least_hidden_ns(std::string_view device_kind);

/// "correctness only: baseline 5.4 us < 20 us"; empty where the speed counts.
std::string why_speed_does_not_count(double baseline_ns, double least_ns);

/// Sets hidden_speedup and hidden_race_ratio from the timed cases from `first` on whose speed
/// counts; the detail of each other one says why it does not. A note says when none counts: both
/// are 0 then, and nothing is known of the kernel's speed on hidden shapes.
void score_hidden(tasks::Evaluation& evaluation, std::size_t first);

} // namespace winnow::evaluators
