#include "evaluators/evaluation/evaluator.h"

#include "base/error.h"
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

const tasks::Task& Evaluator::task() const {
  return state_->task;
}

} // namespace winnow::evaluators
