#include "evaluators/selftest/reference_run.h"

#include "base/error.h"
#include "base/parallel.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/evaluation/reference_check.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/shared_need.h"

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

// Converts elements of dtype `from` to dtype `to`.
void convert(tasks::DType from, std::span<const std::byte> source, tasks::DType to,
             std::span<std::byte> target) {
  if (from == to) {
    copy_in_parts(source, target);
    return;
  }
  const std::size_t from_size = tasks::size_bytes(from), to_size = tasks::size_bytes(to);
  in_parts(source.size() / from_size, tasks::kElementsPerThread,
           [&](std::uint64_t first, std::uint64_t end) {
             tasks::convert_elements(from, source.data() + first * from_size, to,
                                     target.data() + first * to_size, end - first);
           });
}

} // namespace

ReferenceRun::ReferenceRun(TaskOnDevice& on_device)
    : on_device_(on_device), arena_(on_device.host->arena.fd()) {
  const DeviceHost& host = *on_device.host;
  if (!host.worker_device.is_gpu()) {
    standing_ = make_standing_runner(host.sandbox, host.arena, host.worker_device, host.cache);
  }
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
  const bool is_standing = standing_ && workers == 0; // such a worker has the device's number
  Runner& runner = is_standing ? *standing_ : *host.runner;
  return runner.run(std::move(request), limits, [this] { return on_device_.cancelled.load(); });
}

RunCase ReferenceRun::place(const BuiltKernel& reference, const ReferenceCase& reference_case,
                            Parts parts, std::uint64_t& offset) const {
  RunCase run_case;
  run_case.plan = on_device_.own_plan(reference, reference_case.shape);
  for (const tasks::Buffer& buffer : run_case.plan->buffers) {
    if (buffer.kind == Kind::Input || buffer.kind == Kind::InOut) {
      run_case.inputs.push_back(next_slice(buffer, offset));
    }
    const bool is_wanted =
        parts == Parts::OutputsAndMagnitudes || on_device_.task.find_tensor(buffer.name) != nullptr;
    if (is_wanted && (buffer.kind == Kind::Output || buffer.kind == Kind::InOut)) {
      run_case.outputs.push_back(next_slice(buffer, offset));
    }
  }
  require_room(reference_case.shape, offset, "the inputs and the reference's answers of its runs");
  write_inputs(*run_case.plan, run_case.inputs, reference_case.inputs);
  return run_case;
}

void ReferenceRun::write_inputs(const tasks::ResolvedPlan& plan,
                                const std::vector<ArenaSlice>& slices,
                                const tasks::HostTensors& inputs) const {
  std::size_t next = 0;
  for (const tasks::Buffer& buffer : plan.buffers) {
    if (buffer.kind == Kind::Input || buffer.kind == Kind::InOut) {
      const ArenaSlice& slice = slices[next++];
      const tasks::HostTensor& input = inputs.at(buffer.name);
      // Floating inouts become f64, the type that the reference expects.
      convert(input.dtype, input.bytes, buffer.dtype, arena_.slice(slice.offset, slice.bytes));
    }
  }
}

void ReferenceRun::require_room(const tasks::Shape& shape, std::uint64_t bytes,
                                std::string_view tensors) const {
  tasks::require_shared(on_device_.task, shape, bytes, on_device_.host->arena.size_bytes(),
                        tensors);
}

std::vector<ReferenceRun::Seen> ReferenceRun::parts_of(const RunCase& run_case) const {
  std::vector<Seen> parts;
  for (const ArenaSlice& slice : run_case.outputs) {
    Seen& part = parts.emplace_back();
    part.is_magnitude = on_device_.task.find_tensor(slice.tensor) == nullptr;
    const std::size_t suffix = part.is_magnitude ? tasks::kMagnitudeSuffix.size() : 0;
    part.name = slice.tensor.substr(0, slice.tensor.size() - suffix);
    part.dtype = on_device_.reference_task.find_tensor(slice.tensor)->dtype;
    part.bytes = arena_.slice(slice.offset, slice.bytes);
  }
  return parts;
}

ReferenceAnswer ReferenceRun::take(const RunCase& run_case) const {
  ReferenceAnswer answer;
  for (const Seen& part : parts_of(run_case)) {
    tasks::HostTensor tensor;
    tensor.dtype = part.dtype;
    tensor.bytes.resize(part.bytes.size());
    copy_in_parts(part.bytes, tensor.bytes);
    tensor.extents = {tensor.count()};
    (part.is_magnitude ? answer.magnitudes : answer.outputs).emplace(part.name, std::move(tensor));
  }
  return answer;
}

void ReferenceRun::clear_arena() {
  if (!on_device_.host->worker_device.is_gpu()) {
    on_device_.host->arena.clear(); // a GPU worker keeps the arena's pages pinned
  }
}

ReferenceRun::Outcome ReferenceRun::answers(std::span<const ReferenceCase> cases, Parts parts) {
  clear_arena();
  std::vector<RunCase> run_cases;
  std::uint64_t offset = 0;
  for (const ReferenceCase& reference_case : cases) {
    run_cases.push_back(place(on_device_.reference, reference_case, parts, offset));
  }
  const StageOutcome ran = run(on_device_.reference, run_cases);
  Outcome outcome;
  outcome.fault = ran.fault;
  const std::size_t completed = ran.fault ? ran.faulty_case : cases.size();
  for (std::size_t i = 0; i < completed; ++i) {
    outcome.answers.push_back(take(run_cases[i]));
  }
  return outcome;
}

ReferenceAnswer ReferenceRun::answer(const ReferenceCase& reference_case, Parts parts) {
  Outcome outcome = answers({&reference_case, 1}, parts);
  if (outcome.fault) {
    throw Error(fmt::format("{}: reference.cu failed at {}: {}", on_device_.task.name,
                            reference_case.shape.id, outcome.fault->detail),
                "correct reference.cu of the task");
  }
  return std::move(outcome.answers.front());
}

Drawn ReferenceRun::draw(const tasks::Shape& shape, std::uint64_t seed) {
  Drawn drawn{seed, {shape, tasks::draw_inputs(on_device_.task, shape, seed)}, {}};
  drawn.right = answer(drawn.inputs, Parts::Outputs);
  return drawn;
}

std::optional<DeviceFault>
ReferenceRun::look(const ReferenceCase& reference_case, Parts parts,
                   const std::function<void(std::span<const Seen>)>& see) {
  return look(on_device_.reference, reference_case, parts, see);
}

std::optional<DeviceFault>
ReferenceRun::look(const BuiltKernel& reference, const ReferenceCase& reference_case, Parts parts,
                   const std::function<void(std::span<const Seen>)>& see) {
  clear_arena();
  std::uint64_t offset = 0;
  const RunCase run_case = place(reference, reference_case, parts, offset);
  StageOutcome ran = run(reference, {run_case});
  if (ran.fault) {
    return std::move(ran.fault);
  }
  see(parts_of(run_case));
  return std::nullopt;
}

JudgeReply ReferenceRun::judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                               const tasks::HostTensors& outputs, bool explain) {
  std::uint64_t offset = 0;
  const std::vector<ArenaSlice> slices = output_slices(on_device_.task, shape, offset);
  require_room(shape, offset, "its outputs");
  for (const ArenaSlice& slice : slices) {
    const tasks::HostBytes& bytes = outputs.at(slice.tensor).bytes;
    copy_in_parts(bytes, arena_.slice(slice.offset, bytes.size()));
  }
  return judge(shape, seed, salt, slices, explain);
}

JudgeReply ReferenceRun::judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                               const std::vector<ArenaSlice>& slices, bool explain) {
  JudgeRequest request = judge_request(on_device_, shape, seed, salt, slices);
  request.explain = explain;
  JudgeReply reply = on_device_.ask(request);
  if (reply.verdict == tasks::Verdict::Infrastructure) {
    throw Error(on_device_.task.name + " at " + shape.id + ": " + reply.detail,
                "end other programs that hold the memory of the device; if reference.cu is at "
                "fault, correct reference.cu");
  }
  return reply;
}

void round_output(const tasks::Task& task, const tasks::Shape& shape,
                  const ReferenceRun::Seen& output, tasks::HostTensor& rounded) {
  const tasks::TensorSpec& spec = *task.find_tensor(output.name);
  const auto count = static_cast<std::size_t>(tasks::element_count(spec, shape));
  if (rounded.dtype != spec.dtype || rounded.bytes.size() != count * size_bytes(spec.dtype)) {
    rounded = tasks::unset_tensor(spec, task, shape);
  }
  convert(output.dtype, output.bytes, spec.dtype, rounded.bytes);
}

tasks::HostTensors rounded_outputs(const tasks::Task& task, const tasks::Shape& shape,
                                   const ReferenceAnswer& answer) {
  tasks::HostTensors outputs;
  for (const auto& [name, computed] : answer.outputs) {
    tasks::HostTensor output = tasks::unset_tensor(*task.find_tensor(name), task, shape);
    convert(computed.dtype, computed.bytes, output.dtype, output.bytes);
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

std::uint64_t nth_seed(std::uint64_t first, int i) {
  return tasks::spread_seed(first + static_cast<std::uint64_t>(i));
}

} // namespace winnow::evaluators
