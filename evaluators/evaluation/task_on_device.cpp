#include "evaluators/evaluation/task_on_device.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/mutants/memorisable.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/baseline.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

tasks::KernelFile parse_own(const std::string& text, const std::filesystem::path& path) {
  tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, path.string());
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()), "correct this file of the task");
  }
  return std::move(*parsed.kernel_file);
}

tasks::Task with_baseline_of(tasks::Task task, const std::string& device_kind) {
  tasks::take_baseline_of(task, device_kind);
  return task;
}

[[noreturn]] void reject_own(const tasks::KernelFile& file, const std::string& why) {
  throw Error(fmt::format("{}: {}", file.file, why), "correct this file of the task");
}

} // namespace

std::chrono::milliseconds judge_timeout(const EvaluationOptions& options) {
  return options.run_timeout * 3;
}

TaskOnDevice::TaskOnDevice(tasks::Task task_to_judge, std::shared_ptr<DeviceHost> device_host,
                           EvaluationOptions evaluation_options)
    : task(with_baseline_of(std::move(task_to_judge), device_host->device.kind)),
      reference_task(tasks::reference_view(task)),
      memorisable(tasks::why_timings_can_be_memorised(task, device_host->device.kind)),
      options(std::move(evaluation_options)), host(std::move(device_host)),
      reference_file(task.torch
                         ? tasks::KernelFile()
                         : parse_own(tasks::plain_reference(task), task.folder / "reference.cu")),
      baseline_file(task.baseline.empty()
                        ? tasks::KernelFile()
                        : parse_own(task.baseline, task.folder / tasks::baseline_file(task))) {}

tasks::Evaluation TaskOnDevice::new_evaluation() const {
  tasks::Evaluation blank =
      blank_evaluation(host->device.kind, host->device.name, to_string(host->sandbox.level()));
  blank.device_uuid = host->device.uuid;
  blank.driver = host->device.driver;
  blank.seed = options.seed ? *options.seed : random_bits();
  blank.unranked = options.seed          ? "its seed was given"
                   : options.hidden_draw ? "judged at a part of the hidden shapes"
                                         : memorisable;
  if (!memorisable.empty()) {
    blank.notes.push_back(memorisable);
  }
  return blank;
}

void TaskOnDevice::prepare() {
  using tasks::ShapeSet;
  host->judge.start();
  const std::string& device = host->device.kind;
  for (const ShapeSet set : {ShapeSet::Tiny, ShapeSet::Search, ShapeSet::Promotion}) {
    prepare_reference(task.shapes_of(set, device));
  }
  if (options.timing && has_baseline()) {
    own_kernel(baseline_file, task, task.shapes_of(ShapeSet::Search, device), baseline);
  }
}

void TaskOnDevice::prepare_reference(const std::vector<tasks::Shape>& shapes) {
  if (task.torch) {
    host->torch.start();
  } else {
    own_kernel(reference_file, reference_task, shapes, reference);
  }
}

BuiltKernel TaskOnDevice::build(const tasks::KernelFile& file, const tasks::Task& view,
                                const tasks::ParameterChoice& choice,
                                const std::vector<tasks::Shape>& shapes, BuildMode mode,
                                std::vector<Diagnostic>& errors) {
  tell(file.file, "is compiled", options.compile_timeout);
  const SpentTime spent(host->spent.compile_seconds);
  return build_kernel(
      *host->compiler, host->device.facts, file, view, choice, shapes, mode,
      [this] { return cancelled.load(); }, errors);
}

const BuiltKernel& TaskOnDevice::own_kernel(const tasks::KernelFile& file, const tasks::Task& view,
                                            const std::vector<tasks::Shape>& shapes,
                                            BuiltKernel& slot) {
  if (slot.file == &file && serves(slot, host->device.facts, shapes)) {
    return slot;
  }
  std::vector<Diagnostic> errors;
  slot = build(file, view, default_choice(file), shapes, BuildMode::Plain, errors);
  if (!errors.empty()) {
    reject_own(file, to_string(errors.front()));
  }
  if (slot.compiled.verdict != tasks::Verdict::Correct && !cancelled) {
    reject_own(file, slot.compiled.detail);
  }
  return slot;
}

void TaskOnDevice::tell(const std::string& file, std::string what,
                        std::chrono::milliseconds limit) const {
  if (options.waiting) {
    options.waiting({file, std::move(what), limit});
  }
}

JudgeReply TaskOnDevice::ask(const JudgeRequest& request) {
  return ask(std::vector{request}).front();
}

std::vector<JudgeReply> TaskOnDevice::ask(const std::vector<JudgeRequest>& requests) {
  ReferenceJudge::Round round = new_round();
  give(round, requests);
  return take(round);
}

void TaskOnDevice::give(ReferenceJudge::Round& round, const std::vector<JudgeRequest>& requests) {
  tell("", fmt::format("reference.{} answers, and the judge compares", task.torch ? "py" : "cu"),
       judge_timeout(options));
  const SpentTime spent(host->spent.judge_seconds);
  round.give(requests);
}

std::vector<JudgeReply> TaskOnDevice::take(ReferenceJudge::Round& round) {
  const SpentTime spent(host->spent.judge_seconds);
  return round.take();
}

ReferenceJudge::Round TaskOnDevice::new_round() {
  return {host->judge, judge_timeout(options),
          task.torch ? [this](const JudgeRequest& asked) { return answer_by_torch(asked); }
                     : ReferenceJudge::Outside()};
}

std::string TaskOnDevice::answer_by_torch(const JudgeRequest& request) {
  try {
    host->torch.ask(request.inputs_question, request.question, judge_timeout(options));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string TaskOnDevice::give_inputs(const std::string& shape_id, std::uint64_t seed,
                                      std::uint64_t static_seed,
                                      const std::vector<ArenaSlice>& to) {
  try {
    const auto shape =
        std::find_if(task.shapes.begin(), task.shapes.end(),
                     [&](const tasks::Shape& known) { return known.id == shape_id; });
    if (shape == task.shapes.end()) {
      throw Error("the task has no shape " + shape_id);
    }
    const std::vector<ArenaSlice> from = computed_inputs(task, *shape);
    host->torch.ask(torch_inputs(task, *shape, seed, from, static_seed), judge_timeout(options));
    const ArenaView exchange(host->exchange.fd()), arena(host->arena.fd());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto bytes = exchange.slice(from[i].offset, from[i].bytes);
      std::copy(bytes.begin(), bytes.end(), arena.slice(to.at(i).offset, bytes.size()).begin());
    }
    return "";
  } catch (const std::exception& error) {
    return fmt::format("reference.py failed: {}", error.what());
  }
}

const SharedPlan& TaskOnDevice::own_plan(const BuiltKernel& kernel,
                                         const tasks::Shape& shape) const {
  const PlanAtShape& at = plan_at(kernel, host->device.facts, shape);
  if (!at.plan) {
    reject_own(*kernel.file, to_string(at.errors.front()));
  }
  return *at.plan;
}

std::vector<const BuiltKernel*> TaskOnDevice::rivals_for(const std::vector<tasks::Shape>& shapes,
                                                         bool with_incumbent) {
  std::vector<const BuiltKernel*> rivals;
  if (has_baseline()) {
    own_kernel(baseline_file, task, shapes, baseline);
    rivals.push_back(&baseline);
  }
  if (const BuiltKernel* kernel = with_incumbent ? incumbent_for(shapes) : nullptr) {
    rivals.push_back(kernel);
  }
  return rivals;
}

const BuiltKernel* TaskOnDevice::incumbent_for(const std::vector<tasks::Shape>& shapes) {
  if (!incumbent) {
    return nullptr;
  }
  std::vector<Diagnostic> errors;
  incumbent_kernel =
      build(incumbent->file, task, incumbent->parameters, shapes, BuildMode::Plain, errors);
  if (!errors.empty() || incumbent_kernel.compiled.verdict != tasks::Verdict::Correct) {
    suspend_incumbent("it does not compile: " + (errors.empty() ? incumbent_kernel.compiled.detail
                                                                : to_string(errors.front())));
    return nullptr;
  }
  for (const tasks::Shape& shape : shapes) {
    if (const PlanAtShape& at = plan_at(incumbent_kernel, host->device.facts, shape); !at.plan) {
      suspend_incumbent("its plan does not hold at every shape: " + to_string(at.errors.front()));
      return nullptr;
    }
  }
  return &incumbent_kernel;
}

void TaskOnDevice::suspend_incumbent(std::string why) {
  suspended = {incumbent.value().name, std::move(why)};
  incumbent.reset();
  known.clear(); // its own evaluation is doubted now, also for files with the same machine code
}

} // namespace winnow::evaluators
