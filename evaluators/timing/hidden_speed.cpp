#include "evaluators/timing/hidden_speed.h"

#include "evaluators/timing/physical_floor.h"
#include "evaluators/timing/timed_case.h"
#include "profiling/statistics/summary.h"
#include "tasks/result/least_hidden.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

std::string short_time(double ns) {
  return ns < 1e6 ? fmt::format("{:.3g} us", ns * 1e-3) : fmt::format("{:.3g} ms", ns * 1e-6);
}

// The minimum, because a busy CPU makes some launches take many times as long.
double fastest(const std::vector<double>& samples) {
  return samples.empty() ? 0 : *std::min_element(samples.begin(), samples.end());
}

std::string why_implausible(const tasks::Evaluation& evaluation, const tasks::Task& task,
                            const tasks::DeviceFacts& facts,
                            const std::optional<profiling::Ceilings>& ceilings) {
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, evaluation.device)) {
    const double floor_ns = physical_floor(least_work(task, shape), facts, ceilings).ns();
    for (const tasks::CaseResult& timed : evaluation.cases) {
      if (timed.shape_id == shape.id && timed.stage == tasks::Stage::Time &&
          timed.median_ns < kFloorMargin * floor_ns) {
        return fmt::format("{}: {:.0f} ns; reading the inputs and doing the operations takes at "
                           "least {:.0f} ns",
                           shape.id, timed.median_ns, floor_ns);
      }
    }
  }
  return {};
}

} // namespace

bool speed_counts(const std::vector<double>& rival_samples_ns, std::string_view device_kind) {
  return fastest(rival_samples_ns) >= tasks::least_hidden_ns(device_kind);
}

std::string why_speed_does_not_count(double rival_ns, double least_ns, std::string_view versus) {
  return rival_ns >= least_ns ? std::string()
                              : fmt::format("correctness only: {} {} < {}", versus,
                                            short_time(rival_ns), short_time(least_ns));
}

void score_hidden(tasks::Evaluation& evaluation, std::size_t first, std::string_view versus) {
  const double least_ns = tasks::least_hidden_ns(evaluation.device);
  std::vector<double> speedups, race_ratios;
  for (std::size_t i = first; i < evaluation.cases.size(); ++i) {
    tasks::CaseResult& timed = evaluation.cases[i];
    timed.detail = why_speed_does_not_count(fastest(timed.baseline_samples_ns), least_ns, versus);
    if (!timed.detail.empty() || !(timed.speedup > 0)) {
      continue;
    }
    speedups.push_back(timed.speedup);
    if (const auto ratio = profiling::paired_ratio(timed.incumbent_samples_ns, timed.samples_ns)) {
      race_ratios.push_back(*ratio);
    }
  }
  evaluation.hidden_speedup = tasks::geometric_mean(speedups);
  evaluation.hidden_race_ratio = tasks::geometric_mean(race_ratios);
  if (speedups.empty()) {
    evaluation.notes.push_back(
        fmt::format("hidden shapes decided correctness only: {} takes less than {} at "
                    "each of them",
                    versus, short_time(least_ns)));
  }
}

std::string score_times(tasks::Evaluation& evaluation, const tasks::Task& task,
                        const tasks::DeviceFacts& facts,
                        const std::optional<profiling::Ceilings>& ceilings,
                        const std::string& rival) {
  std::vector<double> medians, ratios;
  for (const tasks::CaseResult& timed : evaluation.cases) {
    if (timed.stage != tasks::Stage::Time || timed.samples_ns.empty()) {
      continue;
    }
    if (timed.median_ns <= 0 || timed.speedup <= 0) {
      return timed.shape_id + ": the clock measured no time";
    }
    medians.push_back(timed.median_ns);
    ratios.push_back(timed.speedup);
  }
  if (std::string why = why_implausible(evaluation, task, facts, ceilings); !why.empty()) {
    return why;
  }
  evaluation.score_ns = tasks::geometric_mean(medians);
  evaluation.speedup = tasks::geometric_mean(ratios);
  evaluation.speedup_bounds = bounds_of_speedup(evaluation.cases, tasks::Stage::Time);
  if (!rival.empty()) {
    evaluation.race = race_of(evaluation.cases, rival);
  }
  return {};
}

} // namespace winnow::evaluators
