#include "evaluators/selftest/kernel_trial.h"

#include "base/parallel.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/device_host.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/task/task_places.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

constexpr int kWrongEvaluations = 5;

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

bool KernelTrial::is_left(const Tried& kernel) {
  return kernel.result.state == KernelResult::State::Accepted;
}

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
  result.max_error_ratio = std::max(result.max_error_ratio, reply.ratios.larger());
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
    const SpentTime spent(result.run_seconds);
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

std::vector<KernelResult> KernelTrial::judge(const std::vector<Kernel>& kernels) {
  std::vector<Tried> tried;
  for (const Kernel& kernel : kernels) {
    tried.push_back(build(kernel));
  }
  for (const tasks::Shape& shape : shapes_for(on_device_.task, on_device_.host->device.kind)) {
    judge_at(shape, tried);
  }
  std::vector<KernelResult> results;
  for (Tried& kernel : tried) {
    results.push_back(std::move(kernel.result));
  }
  return results;
}

KernelTrial::Tried KernelTrial::build(const Kernel& kernel) {
  Tried tried;
  tried.result.file = kernel.name;
  tried.result.parameters = kernel.choice;
  std::vector<Diagnostic> errors;
  tried.built = on_device_.build(*kernel.file, on_device_.task, kernel.choice,
                                 shapes_for(on_device_.task, on_device_.host->device.kind),
                                 BuildMode::Plain, errors);
  if (!errors.empty()) {
    reject_plan(tried.result, errors);
  } else if (tried.built.compiled.verdict != Verdict::Correct) {
    reject(tried.result, tried.built.compiled.verdict, tried.built.compiled.detail);
  }
  return tried;
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

KernelResult KernelTrial::judge_as_candidate(const Kernel& kernel) {
  KernelResult result;
  for (int i = 0; i < kWrongEvaluations; ++i) {
    result = KernelResult();
    result.file = kernel.name;
    result.parameters = kernel.choice;
    on_device_.options.seed = nth_seed(options_.seed, i);
    const tasks::Evaluation judged =
        EvaluationRun(on_device_, *kernel.file, kernel.choice, Depth::Full).run();
    on_device_.options.seed = options_.evaluation.seed;
    result.verdict = judged.verdict;
    if (judged.verdict == Verdict::Correct) {
      result.state = KernelResult::State::Accepted;
      break;
    }
    reject(result, judged.verdict, fmt::format("{}: {}", to_string(judged.verdict), judged.detail));
  }
  return result;
}

void KernelTrial::judge_at(const tasks::Shape& shape, std::vector<Tried>& kernels) {
  const tasks::Task& task = on_device_.task;
  std::vector<Tried*> left;
  for (Tried& kernel : kernels) {
    if (is_left(kernel) && plan(shape, kernel)) {
      left.push_back(&kernel);
    }
  }
  if (left.empty()) {
    return;
  }
  std::uint64_t bytes = 0; // of the outputs of one run
  output_slices(task, shape, bytes);
  runner_.require_room(shape, bytes, "its outputs");
  const std::uint64_t room =
      on_device_.host->arena.size_bytes() / std::max<std::uint64_t>(bytes, 1);
  const auto seeds = static_cast<int>(
      std::clamp<std::uint64_t>(room / left.size(), 1, static_cast<std::uint64_t>(options_.seeds)));
  const std::uint64_t group = std::max<std::uint64_t>(room / static_cast<std::uint64_t>(seeds), 1);
  for (int first = 0; first < options_.seeds; first += seeds) {
    const Seeds part{first, std::min(first + seeds, options_.seeds)};
    for (std::uint64_t i = 0; i < left.size(); i += group) {
      judge_group(shape, part, std::span(left).subspan(i, std::min(group, left.size() - i)));
    }
  }
}

void KernelTrial::judge_group(const tasks::Shape& shape, Seeds seeds,
                              std::span<Tried* const> kernels) {
  runner_.clear_arena();
  std::uint64_t offset = 0;
  for (Tried* const kernel : kernels) {
    if (is_left(*kernel)) {
      run(shape, seeds, offset, *kernel);
    }
  }
  for (int i = seeds.first; i < seeds.end; ++i) {
    for (Tried* const kernel : kernels) {
      if (is_left(*kernel)) {
        judge_case(shape, i, kernel->cases[static_cast<std::size_t>(i - seeds.first)],
                   kernel->result);
      }
    }
  }
}

bool KernelTrial::plan(const tasks::Shape& shape, Tried& kernel) const {
  const BuiltKernel& built = kernel.built;
  std::vector<Diagnostic> errors, warnings;
  const auto plan =
      tasks::resolve_plan(*built.file, on_device_.task, shape, built.choice,
                          on_device_.host->device.facts, built.compiled.facts, errors, warnings);
  if (plan) {
    kernel.plan = *plan;
  } else {
    reject_plan(kernel.result, errors);
  }
  return plan.has_value();
}

void KernelTrial::run(const tasks::Shape& shape, Seeds seeds, std::uint64_t& offset,
                      Tried& kernel) {
  kernel.cases.clear();
  for (int i = seeds.first; i < seeds.end; ++i) {
    RunCase& run_case = kernel.cases.emplace_back();
    run_case.plan = kernel.plan;
    run_case.seed = nth_seed(options_.seed, i);
    run_case.salt = poison_salt(run_case.seed);
    run_case.outputs = output_slices(on_device_.task, shape, offset);
  }
  const SpentTime spent(kernel.result.run_seconds);
  if (const auto fault = runner_.run(kernel.built, kernel.cases).fault) {
    reject(kernel.result, fault->verdict,
           fmt::format("{} at {}: {}", to_string(fault->verdict), shape.id, fault->detail));
  }
}

void KernelTrial::judge_case(const tasks::Shape& shape, int seed, const RunCase& run_case,
                             KernelResult& result) const {
  const JudgeReply reply = runner_.judge(shape, run_case.seed, run_case.salt, run_case.outputs);
  if (seed == 0 && shape.set == tasks::ShapeSet::Search && !on_device_.task.torch) {
    result.measured.push_back({shape.id, reply.ratios});
  }
  add(shape, reply, result);
}

} // namespace winnow::evaluators
