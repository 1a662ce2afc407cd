#include "evaluators/evaluation/evaluator.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/precheck.h"
#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/evaluation/trial.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Evaluation;
using tasks::Verdict;

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

Evaluation machine_fault(std::string_view device, std::string_view device_name,
                         std::string detail) {
  Evaluation fault = blank_evaluation(device, device_name);
  fault.verdict = Verdict::Infrastructure;
  fault.detail = std::move(detail);
  return fault;
}

struct Evaluator::State : TaskOnDevice {
  using TaskOnDevice::TaskOnDevice;

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

  /// Evaluates the default choice of parameters, or reports the mistakes of the text.
  Evaluation evaluate_default(const tasks::KernelFileResult& parsed, Depth depth) {
    if (!parsed.kernel_file) {
      return blank(Verdict::BadPlan, diagnostics_text(parsed.errors));
    }
    std::vector<tasks::ParameterChoice> choices;
    try {
      choices = tasks::parameter_choices(parsed.kernel_file->plan, 1);
    } catch (const tasks::ExpressionError& error) {
      return blank(Verdict::BadPlan, std::string("where: ") + error.what());
    }
    if (choices.empty()) {
      return blank(Verdict::BadPlan, "no choice of parameters satisfies every `where`");
    }
    Evaluation result = evaluate(*parsed.kernel_file, choices.front(), depth);
    for (const Diagnostic& warning : parsed.warnings) {
      result.notes.push_back(to_string(warning));
    }
    return result;
  }

  std::vector<Evaluation> trial(const tasks::KernelFile& file, const EvaluationRequest& request) {
    try {
      return time_choices(*this, file, request.choices, request.turns);
    } catch (const Error& error) {
      return {request.choices.size(), blank(Verdict::Infrastructure, error.what())};
    }
  }

  /// nullopt: the precheck, if there is one, lets the text pass.
  std::optional<Evaluation> stopped_by_precheck(const std::string& text,
                                                const std::string& file_name) const {
    const auto start = std::chrono::steady_clock::now();
    PrecheckAnswer answer{PrecheckAnswer::Outcome::Passed, {}};
    if (!options.precheck.empty()) {
      tell(file_name, "is checked by --precheck-cmd", kPrecheckTimeout);
      answer =
          precheck(options.precheck, text, kPrecheckTimeout, [this] { return cancelled.load(); });
    }
    if (answer.outcome == PrecheckAnswer::Outcome::Passed) {
      return std::nullopt;
    }
    const bool refused = answer.outcome == PrecheckAnswer::Outcome::Refused;
    Evaluation result =
        blank(refused ? Verdict::Refused : Verdict::Infrastructure, std::move(answer.detail));
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

std::vector<Evaluation> Evaluator::evaluate(const EvaluationRequest& request) {
  set_incumbent(request.incumbent);
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  if (request.depth == Depth::Trial && parsed.kernel_file) {
    return state_->trial(*parsed.kernel_file, request);
  }
  if (std::optional<Evaluation> stopped =
          state_->stopped_by_precheck(request.text, request.file_name)) {
    return {*std::move(stopped)};
  }
  if (parsed.kernel_file && !request.choices.empty()) {
    return {evaluate(*parsed.kernel_file, request.choices.front(), request.depth)};
  }
  return {state_->evaluate_default(parsed, request.depth)};
}

void Evaluator::set_incumbent(const std::optional<KernelToBeat>& incumbent) {
  state_->incumbent.reset();
  state_->suspended.reset();
  if (incumbent) {
    tasks::KernelFileResult parsed = tasks::parse_kernel_file(incumbent->text, "incumbent.cu");
    if (parsed.kernel_file) {
      state_->incumbent = {std::move(*parsed.kernel_file), incumbent->parameters,
                           digest_of(*incumbent), incumbent->earned};
    }
  }
}

Evaluation Evaluator::evaluate(const tasks::KernelFile& candidate,
                               const tasks::ParameterChoice& parameters, Depth depth) {
  return state_->evaluate(candidate, parameters, depth);
}

Evaluation Evaluator::evaluate_text(std::string_view text, std::string file_name) {
  return state_->evaluate_default(tasks::parse_kernel_file(text, std::move(file_name)),
                                  Depth::Full);
}

void Evaluator::cancel() {
  state_->cancelled = true;
}

std::string quarantine(const DeviceHost& host) {
  const std::string why = host.runner->quarantine();
  return why.empty() ? why : host.device.id + ": " + why;
}

const tasks::Task& Evaluator::task() const {
  return state_->task;
}

std::chrono::milliseconds time_budget(const Protocol& protocol, std::string_view device_kind) {
  constexpr std::chrono::milliseconds kCpu{150};
  constexpr std::chrono::milliseconds kGpu{20}; // its clock is exact and it runs nothing else
  return protocol.time_budget.count() > 0 ? protocol.time_budget
         : device_kind == "cpu"           ? kCpu
                                          : kGpu;
}

std::shared_ptr<DeviceHost> open_device(const DeviceReport& device, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout) {
  return std::make_shared<DeviceHost>(device, machine, run_timeout);
}

std::shared_ptr<DeviceHost> open_beside(const DeviceHost& open, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout) {
  return std::make_shared<DeviceHost>(open, machine, run_timeout);
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

void compile_ahead(DeviceHost& host, const EvaluationRequest& request,
                   const std::function<bool()>& cancelled) {
  const tasks::Task& task = *request.task;
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  if (!parsed.kernel_file) {
    return;
  }
  const tasks::KernelFile& file = *parsed.kernel_file;
  const auto build = [&](const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes) {
    std::vector<Diagnostic> ignored; // the evaluation will report the same errors
    return build_kernel(*host.compiler, host.device.facts, file, task, choice, shapes,
                        BuildMode::Plain, cancelled, ignored);
  };
  const bool hidden = request.protocol.promotion && request.depth == Depth::Full;
  const std::vector<tasks::Shape> shown = shown_shapes(task, host.device.kind);
  const std::vector<tasks::Shape> promotion =
      task.shapes_of(tasks::ShapeSet::Promotion, host.device.kind);
  try {
    for (const tasks::ParameterChoice& choice :
         request.choices.empty() ? tasks::parameter_choices(file.plan, 1) : request.choices) {
      const BuiltKernel built = build(choice, shown);
      if (hidden && built.compiled.verdict == Verdict::Correct &&
          !serves(built, host.device.facts, promotion)) {
        build(choice, promotion);
      }
    }
  } catch (const Error&) { // the evaluation will report this error, too
  } catch (const tasks::ExpressionError&) {
  }
}

} // namespace winnow::evaluators
