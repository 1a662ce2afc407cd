#include "evaluators/evaluation/eager_times.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/timing/timed_case.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <cmath>
#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// An eager module takes some ten launches, so it needs more time than a kernel.
constexpr int kBudgets = 5;
constexpr std::chrono::minutes kTimedWithin{5};

std::vector<double> timed(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                          TorchMode mode, const Protocol& protocol) {
  TorchSampling sampling;
  sampling.budget = kBudgets * time_budget(protocol, host.device.kind);
  const TorchQuestion question =
      torch_timing(task, shape, mode, sampling, host.exchange.size_bytes());
  // The judge draws the inputs, because the device does so faster than the coordinator.
  JudgeRequest request;
  request.shape = task.digest + " " + shape.id;
  request.plan = tasks::tensors_only(task, shape);
  request.seed = request.static_seed = random_bits();
  request.inputs = question.inputs;
  request.inputs_question = torch_inputs(task, shape, request.seed, question.inputs);
  std::vector<double> times_ns;
  std::exception_ptr failure; // of PyTorch, not of the judge
  ReferenceJudge::Round round(host.judge, kTimedWithin, [&](const JudgeRequest& asked) {
    try {
      const auto reply = host.torch.ask(asked.inputs_question, question.line, kTimedWithin);
      reply.at("times_ns").get_to(times_ns);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    return std::string();
  });
  round.give({request});
  const JudgeReply reply = round.take().front();
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (reply.verdict != tasks::Verdict::Correct) {
    throw Error(reply.detail);
  }
  return times_ns;
}

} // namespace

const std::vector<double>& eager_times(TaskOnDevice& on_device, const tasks::Shape& shape) {
  const auto known = on_device.eager.find(shape.id);
  if (known != on_device.eager.end()) {
    return known->second;
  }
  try {
    on_device.tell("reference.py", "is timed with PyTorch", kTimedWithin);
    return on_device.eager[shape.id] =
               timed(*on_device.host, on_device.task, shape, TorchMode::Eager, on_device.options);
  } catch (const Error& error) {
    throw Error(
        fmt::format("PyTorch could not time reference.py at {}: {}", shape.id, error.what()),
        error.remedy());
  }
}

std::vector<CompiledTimes> compiled_times(DeviceHost& host, const tasks::Task& task,
                                          const Protocol& protocol) {
  host.torch.start();
  std::vector<CompiledTimes> all;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, host.device.kind)) {
    CompiledTimes& one = all.emplace_back();
    one.shape = shape;
    try {
      one.times_ns = timed(host, task, shape, TorchMode::Compiled, protocol);
    } catch (const Error& error) {
      one.error = error.what();
    }
  }
  return all;
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
