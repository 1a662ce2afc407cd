#pragma once

#include "profiling/roofline/roofline.h"
#include "tasks/plan/device_facts.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Whether the speed at a hidden shape counts, where the baseline, or PyTorch eager, takes these
/// times: its fastest launch takes tasks::least_hidden_ns(). Else the shape tests correctness only.
bool speed_counts(const std::vector<double>& rival_samples_ns, std::string_view device_kind);

/// "correctness only: baseline.cu 5.4 us < 20 us"; empty if the speed counts. `versus`:
/// tasks::speedup_versus() of the task.
std::string why_speed_does_not_count(double rival_ns, double least_ns, std::string_view versus);

/// Sets hidden_speedup and hidden_race_ratio from those timed cases, from index `first` on, whose
/// speed counts. The detail of every other case says why its speed does not count. If no case
/// counts, both values are 0, the speed on hidden shapes is not known, and a note says so.
void score_hidden(tasks::Evaluation& evaluation, std::size_t first, std::string_view versus);

/// Sets score_ns, speedup, speedup_bounds and race from the timed cases at the search shapes.
/// `rival` is the digest of the incumbent; empty: there is none. If a time is shorter than the
/// device can be, sets nothing and returns the reason with the shape; otherwise returns an empty
/// text.
std::string score_times(tasks::Evaluation& evaluation, const tasks::Task& task,
                        const tasks::DeviceFacts& facts,
                        const std::optional<profiling::Ceilings>& ceilings,
                        const std::string& rival);

} // namespace winnow::evaluators
