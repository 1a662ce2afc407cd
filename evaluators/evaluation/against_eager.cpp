#include "evaluators/evaluation/against_eager.h"

#include "evaluators/timing/timed_case.h"

#include <cmath>

namespace winnow::evaluators {

AgainstEager against_eager(const TaskOnDevice& on_device, const std::vector<tasks::Shape>& shapes,
                           const std::vector<std::vector<double>>& samples_ns) {
  std::vector<tasks::CaseResult> cases;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    RunCaseReport report;
    report.samples_ns = samples_ns[i];
    report.rival_samples_ns = {on_device.eager.at(shapes[i].id)};
    tasks::CaseResult& timed = cases.emplace_back();
    timed.stage = tasks::Stage::Time;
    take_samples(report, timed);
    compare_medians(timed);
    ratios.push_back(timed.speedup);
  }
  return {tasks::geometric_mean(ratios), bounds_of_speedup(cases, tasks::Stage::Time)};
}

tasks::Bounds bounds_of_product(double ratio, const profiling::Interval& bounds,
                                const AgainstEager& eager) {
  const auto error = [](double value, double bound) { return std::log(value / bound); };
  const double below = std::hypot(error(ratio, bounds.low), error(eager.ratio, eager.bounds.low));
  const double above = std::hypot(error(ratio, bounds.high), error(eager.ratio, eager.bounds.high));
  const double product = ratio * eager.ratio;
  return {product * std::exp(-below), product * std::exp(above)};
}

} // namespace winnow::evaluators
