#include "evaluators/evaluation/evaluator.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/session.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Evaluation;
using tasks::Verdict;

// A variant gets the long timing only if its quick timing is better by this factor.
constexpr double kWorthwhileGain = 1.02;

} // namespace

Evaluation blank_evaluation(std::string_view device, std::string_view device_name,
                            std::string_view isolation) {
  Evaluation blank;
  blank.device = device;
  blank.device_name = device_name;
  blank.isolation = isolation;
  blank.evaluator_version = kEvaluatorVersion;
  blank.started_at = utc_now();
  return blank;
}

struct Evaluator::State : Session {
  using Session::Session;

  Evaluation evaluate(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                      Depth depth) {
    Evaluation result = attempt(file, choice, depth);
    if (result.verdict == Verdict::Infrastructure && !cancelled) {
      result = attempt(file, choice, depth);
    }
    return result;
  }

  Evaluation blank(Verdict verdict, std::string detail) const {
    Evaluation result = new_evaluation();
    result.verdict = verdict;
    result.detail = std::move(detail);
    return result;
  }

private:
  Evaluation attempt(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                     Depth depth) {
    try {
      return EvaluationRun(*this, file, choice, depth).run();
    } catch (const Error& error) {
      return blank(Verdict::Infrastructure, error.what());
    }
  }
};

Evaluator::Evaluator(tasks::Task task, std::shared_ptr<DeviceHost> host, EvaluationOptions options)
    : state_(std::make_unique<State>(std::move(task), std::move(host), std::move(options))) {}
Evaluator::~Evaluator() = default;

void Evaluator::prepare() {
  state_->prepare();
}

void Evaluator::set_incumbent(std::optional<Incumbent> incumbent) {
  state_->incumbent = std::move(incumbent);
}

Evaluation Evaluator::evaluate(const tasks::KernelFile& candidate,
                               const tasks::ParameterChoice& parameters) {
  return state_->evaluate(candidate, parameters, Depth::Full);
}

Evaluation Evaluator::evaluate_text(std::string_view text, std::string file_name) {
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, std::move(file_name));
  if (!parsed.kernel_file) {
    return state_->blank(Verdict::BadPlan, diagnostics_text(parsed.errors));
  }
  std::vector<Evaluation> family = evaluate_family(*parsed.kernel_file, 1);
  for (const Diagnostic& warning : parsed.warnings) {
    family.front().notes.push_back(to_string(warning));
  }
  return std::move(family.front());
}

std::vector<Evaluation> Evaluator::evaluate_family(const tasks::KernelFile& candidate,
                                                   std::size_t max_variants) {
  std::vector<tasks::ParameterChoice> choices;
  try {
    choices = tasks::parameter_choices(candidate.plan, std::max<std::size_t>(max_variants, 1));
  } catch (const tasks::ExpressionError& error) {
    return {state_->blank(Verdict::BadPlan, std::string("where: ") + error.what())};
  }
  if (choices.empty()) {
    return {state_->blank(Verdict::BadPlan, "no choice of parameters satisfies every `where`")};
  }
  std::vector<Evaluation> family{state_->evaluate(candidate, choices.front(), Depth::Full)};
  if (family.front().verdict != Verdict::Correct || !(family.front().speedup > 0)) {
    return family; // a family whose default variant fails is not worth tuning
  }
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < choices.size() && !state_->cancelled; ++i) {
    family.push_back(state_->evaluate(candidate, choices[i], Depth::Quick));
    const bool worthwhile = family[i].speedup > family[fastest].speedup * kWorthwhileGain;
    fastest = worthwhile ? i : fastest;
  }
  if (fastest != 0 && !state_->cancelled) {
    family[fastest] = state_->evaluate(candidate, choices[fastest], Depth::Full);
    const bool better = family[fastest].verdict == Verdict::Correct &&
                        family[fastest].speedup > family.front().speedup;
    if (better) {
      std::swap(family.front(), family[fastest]);
    }
  }
  return family;
}

Evaluation Evaluator::not_begun(Verdict verdict, std::string detail) const {
  return state_->blank(verdict, std::move(detail));
}

void Evaluator::cancel() {
  state_->cancelled = true;
}

std::string Evaluator::quarantine() const {
  const std::string why = state_->host->runner->quarantine();
  return why.empty() ? why : state_->host->device.id + ": " + why;
}

const tasks::Task& Evaluator::task() const {
  return state_->task;
}
const DeviceReport& Evaluator::device() const {
  return state_->host->device;
}
process::Isolation Evaluator::isolation() const {
  return state_->host->sandbox.level();
}

std::chrono::milliseconds time_budget(const EvaluationOptions& options,
                                      std::string_view device_kind) {
  constexpr std::chrono::milliseconds kCpu{150};
  constexpr std::chrono::milliseconds kGpu{20}; // its clock is exact and it runs nothing else
  return options.time_budget.count() > 0 ? options.time_budget : device_kind == "cpu" ? kCpu : kGpu;
}

std::shared_ptr<DeviceHost> open_device(const DeviceReport& device,
                                        const EvaluationOptions& options) {
  return std::make_shared<DeviceHost>(device, options);
}

HostStatistics statistics(const DeviceHost& host) {
  HostStatistics statistics = host.spent;
  const RunnerStatistics runner = host.runner->statistics();
  statistics.judge_starts = host.judge.starts();
  statistics.worker_restarts = runner.restarts;
  statistics.recoveries = runner.recoveries;
  statistics.recovery_seconds = std::chrono::duration<double>(runner.recovery_time).count();
  statistics.longest_recovery_seconds =
      std::chrono::duration<double>(runner.longest_recovery).count();
  return statistics;
}

void compile_ahead(DeviceHost& host, const tasks::Task& task, std::string_view text,
                   const std::string& file_name, std::size_t max_variants,
                   const std::function<bool()>& cancelled, bool promotion) {
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file_name);
  if (!parsed.kernel_file) {
    return;
  }
  const tasks::KernelFile& file = *parsed.kernel_file;
  const auto builds = [&](const tasks::ParameterChoice& choice,
                          const std::vector<tasks::Shape>& shapes) {
    std::vector<Diagnostic> ignored; // the evaluation will report the same errors
    return build_kernel(*host.compiler, host.device.facts, file, task, choice, shapes,
                        BuildMode::Plain, cancelled, ignored)
               .compiled.verdict == Verdict::Correct;
  };
  try {
    for (const tasks::ParameterChoice& choice :
         tasks::parameter_choices(file.plan, std::max<std::size_t>(max_variants, 1))) {
      if (builds(choice, shown_shapes(task, host.device.kind)) && promotion) {
        builds(choice, task.shapes_of(tasks::ShapeSet::Promotion, host.device.kind));
      }
      promotion = false; // the other variants meet hidden shapes only if they are the fastest
    }
  } catch (const Error&) { // the evaluation will report this error, too
  } catch (const tasks::ExpressionError&) {
  }
}

} // namespace winnow::evaluators
