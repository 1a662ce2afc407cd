#include "evaluators/timing/score_times.h"

#include "evaluators/timing/physical_floor.h"
#include "evaluators/timing/timed_case.h"

#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

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
