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

void draw_inputs(TaskOnDevice& on_device, const tasks::Shape& shape,
                 const std::vector<ArenaSlice>& inputs) {
  const ArenaView exchange(on_device.host->exchange.fd());
  const std::uint64_t seed = random_bits();
  for (const ArenaSlice& input : inputs) {
    const tasks::TensorSpec& tensor = *on_device.task.find_tensor(input.tensor);
    tasks::generate_tensor(tasks::generator_at(tensor, shape), tensor.dtype, seed, tensor.name,
                           exchange.slice(input.offset, input.bytes).data(),
                           static_cast<std::uint64_t>(tasks::element_count(tensor, shape)));
  }
  const std::string question = torch_inputs(on_device.task, shape, seed, inputs);
  if (!question.empty()) {
    on_device.host->torch.ask(question, kTimedWithin);
  }
}

std::vector<double> timed(TaskOnDevice& on_device, const tasks::Shape& shape) {
  DeviceHost& host = *on_device.host;
  TorchSampling sampling;
  sampling.budget = kBudgets * time_budget(on_device.options, host.device.kind);
  const TorchQuestion question =
      torch_timing(on_device.task, shape, sampling, host.exchange.size_bytes());
  draw_inputs(on_device, shape, question.inputs);
  on_device.tell("reference.py", "is timed with PyTorch", kTimedWithin);
  return host.torch.ask(question.line, kTimedWithin).at("times_ns").get<std::vector<double>>();
}

} // namespace

const std::vector<double>& eager_times(TaskOnDevice& on_device, const tasks::Shape& shape) {
  const auto known = on_device.eager.find(shape.id);
  if (known != on_device.eager.end()) {
    return known->second;
  }
  try {
    return on_device.eager[shape.id] = timed(on_device, shape);
  } catch (const Error& error) {
    throw Error(
        fmt::format("PyTorch could not time reference.py at {}: {}", shape.id, error.what()),
        error.remedy());
  }
}

} // namespace winnow::evaluators
