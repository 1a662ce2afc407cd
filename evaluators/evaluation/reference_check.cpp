#include "evaluators/evaluation/reference_check.h"

#include "base/error.h"
#include "evaluators/messages/arena.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/shared_need.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kSliceAlignment = 64;

std::vector<std::int64_t> dimensions(const tasks::TensorSpec& tensor, const tasks::Task& task,
                                     const tasks::Shape& shape) {
  const std::vector<std::int64_t> extents = extents_of(task, tensor, shape);
  return extents.empty() ? std::vector<std::int64_t>{1} : extents;
}

void put(const ArenaView& arena, const ArenaSlice& slice,
         const std::map<std::string, std::span<const std::byte>>& outputs) {
  const auto output = outputs.find(slice.tensor);
  if (output == outputs.end()) {
    throw Error("output '" + slice.tensor + "' is missing");
  }
  if (output->second.size() != slice.bytes) {
    throw Error(fmt::format("output '{}' has {} bytes, expected {}", slice.tensor,
                            output->second.size(), slice.bytes));
  }
  std::memcpy(arena.slice(slice.offset, slice.bytes).data(), output->second.data(), slice.bytes);
}

} // namespace

ErrorModel error_model(const tasks::Task& task, const tasks::Shape& shape) {
  const tasks::Tolerance& tolerance = task.tolerance;
  if (tolerance.precision == tasks::Precision::Int) {
    return {};
  }
  tasks::Scope scope;
  tasks::bind_shape(task, shape, scope);
  return {tolerance.accumulate, tolerance.multiple.evaluate_float(scope),
          tolerance.norm_multiple.evaluate_float(scope), tolerance.absolute, tolerance.nan_allowed};
}

std::vector<ArenaSlice> output_slices(const tasks::Task& task, const tasks::Shape& shape,
                                      std::uint64_t& offset, OutputPart part) {
  std::vector<ArenaSlice> slices;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (tensor.role == tasks::Role::Input) {
      continue;
    }
    const auto count = static_cast<std::uint64_t>(tasks::element_count(tensor, shape));
    const std::uint64_t bytes = part == OutputPart::Whole
                                    ? count * tasks::size_bytes(tensor.dtype)
                                    : drawn_bytes(count, tasks::size_bytes(tensor.dtype));
    slices.push_back({tensor.name, offset, bytes});
    offset += (bytes + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
  }
  return slices;
}

JudgeRequest judge_request(const TaskOnDevice& on_device, const tasks::Shape& shape,
                           InputSeeds seeds, std::uint64_t salt, std::vector<ArenaSlice> outputs,
                           std::optional<std::uint64_t> draw) {
  JudgeRequest request;
  request.shape =
      fmt::format("{} {} {}", on_device.task.digest, shape.id, to_string(shape)); // sizes may vary
  if (on_device.task.torch) {
    request.plan = tasks::tensors_only(on_device.reference_task, shape);
    TorchQuestion question = torch_question(on_device.task, shape, seeds.launch,
                                            on_device.host->exchange.size_bytes(), draw);
    request.inputs_question =
        torch_inputs(on_device.task, shape, seeds.launch, question.inputs, seeds.of_static);
    request.inputs = std::move(question.inputs);
    request.answers = std::move(question.answers);
    request.question = std::move(question.line);
  } else {
    request.module = on_device.reference.compiled.module;
    request.plan = on_device.own_plan(on_device.reference, shape);
  }
  request.model = error_model(on_device.task, shape);
  ask_about_launch(request, on_device, shape, seeds, salt, std::move(outputs), draw);
  return request;
}

void ask_about_launch(JudgeRequest& request, const TaskOnDevice& on_device,
                      const tasks::Shape& shape, InputSeeds seeds, std::uint64_t salt,
                      std::vector<ArenaSlice> outputs, std::optional<std::uint64_t> draw) {
  request.seed = seeds.launch;
  request.static_seed = seeds.of_static;
  request.salt = salt;
  request.tensors.clear();
  for (ArenaSlice& slice : outputs) {
    const tasks::TensorSpec& tensor = *on_device.task.find_tensor(slice.tensor);
    JudgedTensor judged{
        std::move(slice), {}, tensor.dtype, dimensions(tensor, on_device.task, shape)};
    if (draw) {
      judged.pieces = drawn_pieces(static_cast<std::uint64_t>(tasks::element_count(tensor, shape)),
                                   tasks::size_bytes(tensor.dtype), *draw);
    }
    request.tensors.push_back(std::move(judged));
  }
}

std::string mismatch_text(const tasks::Mismatch& mismatch) {
  const auto number = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{:.9g}", value);
  };
  const std::string count =
      mismatch.wrong == 0 ? fmt::format("none of {} elements is wrong by itself", mismatch.total)
                          : fmt::format("{} of {} elements differ", mismatch.wrong, mismatch.total);
  return fmt::format("{}{} = {}, expected {} within {:.3g}; {}: {}", mismatch.tensor,
                     mismatch.first_position, number(mismatch.got), number(mismatch.expected),
                     mismatch.limit, count, mismatch.pattern);
}

ReferenceCheck::ReferenceCheck(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                               const EvaluationOptions& options)
    : on_device_(std::make_unique<TaskOnDevice>(task, std::move(host), options)) {}

JudgeReply
ReferenceCheck::compare(const tasks::Shape& shape, std::uint64_t seed,
                        const std::map<std::string, std::span<const std::byte>>& outputs) {
  TaskOnDevice& on_device = *on_device_;
  std::uint64_t needed = 0;
  const std::vector<ArenaSlice> slices = output_slices(on_device.task, shape, needed);
  tasks::require_shared(on_device.task, shape, needed, on_device.host->arena.size_bytes(),
                        "its outputs");
  on_device.prepare_reference({shape});
  {
    const ArenaView arena(on_device.host->arena.fd());
    for (const ArenaSlice& slice : slices) {
      put(arena, slice, outputs);
    }
  }
  return on_device.ask(judge_request(on_device, shape, seed, 0, slices));
}

} // namespace winnow::evaluators
