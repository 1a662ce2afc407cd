#include "evaluators/evaluation/eager_times.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/module_alternatives.h"
#include "evaluators/timing/timed_case.h"
#include "evaluators/torch/torch_question.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

std::vector<double> timed(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                          const Protocol& protocol) {
  const std::vector<std::string> names{std::string(kEager)};
  const TorchQuestion question = torch_timing(
      task, shape, names, torch_sampling(protocol, host.device.kind), host.exchange.size_bytes());
  std::vector<double> times_ns;
  with_module_inputs(host, task, shape, random_bits(), question, [&](const std::string& inputs) {
    const auto reply = host.torch.ask(inputs, question.line, kTorchAnswersWithin);
    reply.at("times_ns").at(0).get_to(times_ns);
    if (times_ns.empty()) {
      throw Error(reply.at("errors").at(0).get<std::string>());
    }
  });
  return times_ns;
}

} // namespace

const std::vector<double>& eager_times(TaskOnDevice& on_device, const tasks::Shape& shape) {
  const auto known = on_device.eager.find(shape.id);
  if (known != on_device.eager.end()) {
    return known->second;
  }
  try {
    on_device.tell("reference.py", "is timed with PyTorch", kTorchAnswersWithin);
    return on_device.eager[shape.id] =
               timed(*on_device.host, on_device.task, shape, on_device.options);
  } catch (const Error& error) {
    throw Error(
        fmt::format("PyTorch could not time reference.py at {}: {}", shape.id, error.what()),
        error.remedy());
  }
}

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
