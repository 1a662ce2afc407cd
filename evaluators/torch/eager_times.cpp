#include "evaluators/torch/eager_times.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/inputs/input_generator.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// An eager module takes some ten launches, so it needs more time than a kernel.
constexpr int kBudgets = 5;
constexpr std::chrono::minutes kTimedWithin{5};

void draw_inputs(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                 const std::vector<ArenaSlice>& inputs) {
  const ArenaView exchange(host.exchange.fd());
  const std::uint64_t seed = random_bits();
  for (const ArenaSlice& input : inputs) {
    const tasks::TensorSpec& tensor = *task.find_tensor(input.tensor);
    tasks::generate_tensor(tasks::generator_at(tensor, shape), tensor.dtype, seed, tensor.name,
                           exchange.slice(input.offset, input.bytes).data(),
                           static_cast<std::uint64_t>(tasks::element_count(tensor, shape)));
  }
  const std::string question = torch_inputs(task, shape, seed, inputs);
  if (!question.empty()) {
    host.torch.ask(question, kTimedWithin);
  }
}

std::vector<double> timed(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                          TorchMode mode, const Protocol& protocol) {
  TorchSampling sampling;
  sampling.budget = kBudgets * time_budget(protocol, host.device.kind);
  const TorchQuestion question =
      torch_timing(task, shape, mode, sampling, host.exchange.size_bytes());
  draw_inputs(host, task, shape, question.inputs);
  return host.torch.ask(question.line, kTimedWithin).at("times_ns").get<std::vector<double>>();
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

} // namespace winnow::evaluators
