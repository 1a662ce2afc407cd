#include "evaluators/selftest/reference_run.h"

#include "base/error.h"
#include "base/parallel.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/evaluation/reference_check.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kAlignment = 64;

using Kind = tasks::Buffer::Kind;

ArenaSlice next_slice(const tasks::Buffer& buffer, std::uint64_t& offset) {
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(buffer.count) * tasks::size_bytes(buffer.dtype);
  ArenaSlice slice{buffer.name, offset, bytes};
  offset += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return slice;
}

// Converts floating inouts to f64, the type that the reference expects.
void write_as(tasks::DType dtype, const tasks::HostTensor& tensor, std::span<std::byte> target) {
  if (dtype == tensor.dtype) {
    std::memcpy(target.data(), tensor.bytes.data(), tensor.bytes.size());
    return;
  }
  const std::size_t size = tasks::size_bytes(dtype);
  in_parts(static_cast<std::uint64_t>(tensor.count()), tasks::kElementsPerThread,
           [&](std::uint64_t first, std::uint64_t end) {
             for (std::uint64_t i = first; i < end; ++i) {
               tasks::store_element(dtype, target.data() + i * size,
                                    tensor.at(static_cast<std::int64_t>(i)));
             }
           });
}

} // namespace

ReferenceRun::ReferenceRun(TaskOnDevice& on_device) : on_device_(on_device) {
  on_device.prepare_reference(shapes_for(on_device.task, on_device.host->device.kind));
}

StageOutcome ReferenceRun::run(const BuiltKernel& built, std::vector<RunCase> cases,
                               unsigned workers) {
  DeviceHost& host = *on_device_.host;
  RunRequest request;
  request.module = built.compiled.module;
  request.workers = workers;
  request.cases = std::move(cases);
  RunnerLimits limits;
  limits.wall = on_device_.options.run_timeout;
  limits.memory_bytes =
      on_device_.options.memory_bytes + host.arena.size_bytes() + cpu_stack_bytes();
  on_device_.tell(built.file->file, "runs", limits.wall);
  const SpentTime spent(host.spent.run_seconds);
  return host.runner->run(std::move(request), limits,
                          [this] { return on_device_.cancelled.load(); });
}

RunCase ReferenceRun::place(const ReferenceCase& reference_case, const ArenaView& arena,
                            std::uint64_t& offset) const {
  RunCase run_case;
  run_case.plan = on_device_.own_plan(on_device_.reference, reference_case.shape);
  for (const tasks::Buffer& buffer : run_case.plan.buffers) {
    if (buffer.kind == Kind::Input || buffer.kind == Kind::InOut) {
      run_case.inputs.push_back(next_slice(buffer, offset));
      const ArenaSlice& slice = run_case.inputs.back();
      write_as(buffer.dtype, reference_case.inputs.at(buffer.name),
               arena.slice(slice.offset, slice.bytes));
    }
    if (buffer.kind == Kind::Output || buffer.kind == Kind::InOut) {
      run_case.outputs.push_back(next_slice(buffer, offset));
    }
  }
  return run_case;
}

ReferenceAnswer ReferenceRun::take(const RunCase& run_case, const ArenaView& arena) const {
  ReferenceAnswer answer;
  for (const ArenaSlice& slice : run_case.outputs) {
    tasks::HostTensor tensor;
    const tasks::TensorSpec& seen = *on_device_.reference_task.find_tensor(slice.tensor);
    tensor.dtype = seen.dtype;
    const std::span<const std::byte> bytes = arena.slice(slice.offset, slice.bytes);
    tensor.bytes.assign(bytes.begin(), bytes.end());
    tensor.extents = {tensor.count()};
    const bool is_output = on_device_.task.find_tensor(slice.tensor) != nullptr;
    const std::string name =
        is_output ? slice.tensor
                  : slice.tensor.substr(0, slice.tensor.size() - tasks::kMagnitudeSuffix.size());
    (is_output ? answer.outputs : answer.magnitudes).emplace(name, std::move(tensor));
  }
  return answer;
}

ReferenceRun::Outcome ReferenceRun::answers(const std::vector<ReferenceCase>& cases) {
  if (!on_device_.host->worker_device.is_gpu()) {
    on_device_.host->arena.clear(); // a GPU worker keeps the arena's pages pinned
  }
  const ArenaView arena(on_device_.host->arena.fd());
  std::vector<RunCase> run_cases;
  std::uint64_t offset = 0;
  for (const ReferenceCase& reference_case : cases) {
    run_cases.push_back(place(reference_case, arena, offset));
  }
  const StageOutcome ran = run(on_device_.reference, run_cases);
  Outcome outcome;
  outcome.fault = ran.fault;
  const std::size_t completed = ran.fault ? ran.faulty_case : cases.size();
  for (std::size_t i = 0; i < completed; ++i) {
    outcome.answers.push_back(take(run_cases[i], arena));
  }
  return outcome;
}

ReferenceAnswer ReferenceRun::answer(const tasks::Shape& shape, const tasks::HostTensors& inputs) {
  Outcome outcome = answers({{shape, inputs}});
  if (outcome.fault) {
    throw Error(fmt::format("{}: reference.cu failed at {}: {}", on_device_.task.name, shape.id,
                            outcome.fault->detail),
                "correct reference.cu of the task");
  }
  return std::move(outcome.answers.front());
}

JudgeReply ReferenceRun::judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                               const tasks::HostTensors& outputs) {
  std::uint64_t offset = 0;
  const std::vector<ArenaSlice> slices = output_slices(on_device_.task, shape, offset);
  const ArenaView arena(on_device_.host->arena.fd());
  for (const ArenaSlice& slice : slices) {
    const std::vector<std::byte>& bytes = outputs.at(slice.tensor).bytes;
    std::memcpy(arena.slice(slice.offset, bytes.size()).data(), bytes.data(), bytes.size());
  }
  return judge(shape, seed, salt, slices);
}

JudgeReply ReferenceRun::judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                               const std::vector<ArenaSlice>& slices) {
  JudgeReply reply = on_device_.ask(judge_request(on_device_, shape, seed, salt, slices));
  if (reply.verdict == tasks::Verdict::Infrastructure) {
    throw Error(on_device_.task.name + " at " + shape.id + ": " + reply.detail,
                "if the fault is in reference.cu, correct reference.cu; otherwise try again");
  }
  return reply;
}

tasks::HostTensors rounded_outputs(const tasks::Task& task, const tasks::Shape& shape,
                                   const ReferenceAnswer& answer) {
  tasks::HostTensors outputs;
  for (const auto& [name, computed] : answer.outputs) {
    tasks::HostTensor output = tasks::blank_tensor(*task.find_tensor(name), task, shape);
    write_as(output.dtype, computed, output.bytes);
    outputs.emplace(name, std::move(output));
  }
  return outputs;
}

std::vector<tasks::Shape> shapes_for(const tasks::Task& task, const std::string& device_kind) {
  using enum tasks::ShapeSet;
  std::vector<tasks::Shape> shapes;
  for (const tasks::ShapeSet set : {Tiny, Search, Promotion, HeldOut}) {
    for (tasks::Shape& shape : task.shapes_of(set, device_kind)) {
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

std::int64_t input_elements(const tasks::Task& task, const tasks::Shape& shape) {
  std::int64_t elements = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    elements += tensor.role == tasks::Role::Output ? 0 : tasks::element_count(tensor, shape);
  }
  return elements;
}

std::uint64_t poison_salt(std::uint64_t seed) {
  return seed * 0x9e3779b97f4a7c15ULL; // any function that changes with the seed
}

} // namespace winnow::evaluators
