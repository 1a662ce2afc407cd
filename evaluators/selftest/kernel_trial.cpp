#include "evaluators/selftest/kernel_trial.h"

#include "base/parallel.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/reference_check.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/task/task_places.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

void reject(KernelResult& result, Verdict verdict, std::string detail) {
  result.state = verdict == Verdict::Unsupported ? KernelResult::State::Unsupported
                                                 : KernelResult::State::Rejected;
  result.verdict = verdict;
  result.detail = std::move(detail);
}

void reject_plan(KernelResult& result, const std::vector<Diagnostic>& errors) {
  reject(result, all_unsupported(errors) ? Verdict::Unsupported : Verdict::BadPlan,
         to_string(errors.front()));
}

} // namespace

std::string_view to_string(KernelResult::State state) {
  switch (state) {
  case KernelResult::State::Accepted:
    return "accepted";
  case KernelResult::State::Rejected:
    return "rejected";
  case KernelResult::State::Unsupported:
    return "unsupported";
  }
  return "unknown_state";
}

void KernelTrial::note_magnitude(const ReferenceRun::Seen& magnitude) {
  bool& has_some = has_magnitude_[magnitude.name];
  has_some = has_some || std::any_of(magnitude.bytes.begin(), magnitude.bytes.end(),
                                     [](std::byte byte) { return byte != std::byte{0}; });
}

std::string KernelTrial::zero_magnitudes() const {
  std::string text;
  for (const auto& [name, has_some] : has_magnitude_) {
    if (!has_some) {
      text += fmt::format("; reference.cu leaves {}_magnitude 0 everywhere, so only the last "
                          "rounding of '{}' is tolerated",
                          name, name);
    }
  }
  return text;
}

void KernelTrial::add(const tasks::Shape& shape, const JudgeReply& reply,
                      KernelResult& result) const {
  ++result.cases;
  result.max_error_ratio = std::max(result.max_error_ratio, reply.max_error_ratio);
  if (reply.verdict != Verdict::Correct && result.state == KernelResult::State::Accepted) {
    reject(result, reply.verdict,
           fmt::format("{} at {}: {}{}", to_string(reply.verdict), shape.id,
                       reply.mismatch ? mismatch_text(*reply.mismatch) : reply.detail,
                       zero_magnitudes()));
  }
}

KernelResult KernelTrial::reference() {
  KernelResult result;
  result.file = "reference.cu";
  const tasks::Task& task = on_device_.task;
  for (const tasks::Shape& shape : shapes_for(task, on_device_.host->device.kind)) {
    const std::uint64_t seed = tasks::spread_seed(options_.seed);
    const ReferenceCase drawn{shape, tasks::draw_inputs(task, shape, seed)};
    tasks::HostTensors outputs;
    const auto fault = runner_.look(drawn, ReferenceRun::Parts::OutputsAndMagnitudes,
                                    [&](std::span<const ReferenceRun::Seen> parts) {
                                      for (const ReferenceRun::Seen& part : parts) {
                                        if (part.is_magnitude) {
                                          note_magnitude(part);
                                        } else {
                                          round_output(task, shape, part, outputs[part.name]);
                                        }
                                      }
                                    });
    if (fault) {
      reject(result, fault->verdict, fmt::format("{}: {}", shape.id, fault->detail));
      return result;
    }
    add(shape, runner_.judge(shape, seed, poison_salt(seed), outputs), result);
  }
  return result;
}

KernelResult KernelTrial::kernel(const tasks::KernelFile& file,
                                 const tasks::ParameterChoice& choice, const std::string& name) {
  KernelResult result;
  result.file = name;
  result.parameters = choice;
  std::vector<Diagnostic> errors;
  const BuiltKernel built = on_device_.build(
      file, on_device_.task, choice, shapes_for(on_device_.task, on_device_.host->device.kind),
      BuildMode::Plain, errors);
  if (!errors.empty()) {
    reject_plan(result, errors);
    return result;
  }
  if (built.compiled.verdict != Verdict::Correct) {
    reject(result, built.compiled.verdict, built.compiled.detail);
    return result;
  }
  for (const tasks::Shape& shape : shapes_for(on_device_.task, on_device_.host->device.kind)) {
    if (result.state == KernelResult::State::Accepted) {
      run_shape(built, shape, result);
    }
  }
  return result;
}

void KernelTrial::time(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                       KernelResult& result) {
  const tasks::Evaluation timed = EvaluationRun(on_device_, file, choice, Depth::Quick).run();
  if (timed.verdict == Verdict::Implausible) {
    reject(result, Verdict::Implausible,
           fmt::format("implausible at {}; `operations` ({}) or `bytes` ({}) is too large",
                       timed.detail, tasks::place_of_key(on_device_.task, "operations"),
                       tasks::place_of_key(on_device_.task, "bytes")));
  }
}

void KernelTrial::judge_as_candidate(const tasks::KernelFile& file,
                                     const tasks::ParameterChoice& choice, KernelResult& result) {
  const tasks::Evaluation judged = EvaluationRun(on_device_, file, choice, Depth::Full).run();
  if (judged.verdict != Verdict::Correct) {
    reject(result, judged.verdict, fmt::format("{}: {}", to_string(judged.verdict), judged.detail));
  }
}

std::vector<RunCase> KernelTrial::plan(const BuiltKernel& built, const tasks::Shape& shape,
                                       KernelResult& result) const {
  std::vector<Diagnostic> errors, warnings;
  const auto plan =
      tasks::resolve_plan(*built.file, on_device_.task, shape, built.choice,
                          on_device_.host->device.facts, built.compiled.facts, errors, warnings);
  if (!plan) {
    reject_plan(result, errors);
    return {};
  }
  std::uint64_t offset = 0;
  std::vector<RunCase> cases;
  for (int i = 0; i < options_.seeds; ++i) {
    RunCase run_case;
    run_case.plan = *plan;
    run_case.seed = nth_seed(options_.seed, i);
    run_case.salt = poison_salt(run_case.seed);
    run_case.outputs = output_slices(on_device_.task, shape, offset);
    cases.push_back(std::move(run_case));
  }
  return cases;
}

void KernelTrial::run_shape(const BuiltKernel& built, const tasks::Shape& shape,
                            KernelResult& result) {
  const std::vector<RunCase> cases = plan(built, shape, result);
  if (cases.empty()) {
    return;
  }
  if (!on_device_.host->worker_device.is_gpu()) {
    on_device_.host->arena.clear(); // a GPU worker keeps the arena's pages pinned
  }
  const StageOutcome outcome = runner_.run(built, cases);
  if (outcome.fault) {
    reject(result, outcome.fault->verdict,
           fmt::format("{} at {}: {}", to_string(outcome.fault->verdict), shape.id,
                       outcome.fault->detail));
    return;
  }
  for (const RunCase& run_case : cases) {
    add(shape, runner_.judge(shape, run_case.seed, run_case.salt, run_case.outputs), result);
  }
  if (shape.set == tasks::ShapeSet::Search && !on_device_.task.torch) {
    measure(shape, cases.front(), result);
  }
}

void KernelTrial::measure(const tasks::Shape& shape, const RunCase& first, KernelResult& result) {
  const tasks::Task& task = on_device_.task;
  const ArenaView arena(on_device_.host->arena.fd());
  tasks::HostTensors outputs;
  for (const ArenaSlice& slice : first.outputs) {
    tasks::HostTensor output = tasks::blank_tensor(*task.find_tensor(slice.tensor), task, shape);
    copy_in_parts(arena.slice(slice.offset, slice.bytes), output.bytes);
    outputs.emplace(slice.tensor, std::move(output));
  }
  auto known = answers_.find(shape.id);
  if (known == answers_.end()) {
    const ReferenceCase drawn{shape, tasks::draw_inputs(task, shape, first.seed)};
    known = answers_.emplace(shape.id, runner_.answer(drawn)).first;
  }
  result.measured.push_back({shape.id, ratios_of(task, shape, known->second, outputs)});
}

} // namespace winnow::evaluators
