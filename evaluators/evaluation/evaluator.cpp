#include "evaluators/evaluation/evaluator.h"

#include "base/error.h"
#include "evaluators/evaluation/compile_ahead.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/precheck.h"
#include "evaluators/evaluation/trial.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <utility>

namespace winnow::evaluators {

using tasks::Evaluation;
using tasks::Verdict;

Evaluation Evaluator::attempt(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                              Depth depth) {
  try {
    return EvaluationRun(on_device_, file, choice, depth).run();
  } catch (const Error& error) {
    return blank(Verdict::Infrastructure, with_remedy(error));
  }
}

Evaluation Evaluator::blank(Verdict verdict, std::string detail) const {
  Evaluation result = on_device_.new_evaluation();
  result.verdict = verdict;
  result.detail = std::move(detail);
  return result;
}

Evaluation Evaluator::evaluate_default(const tasks::KernelFileResult& parsed, Depth depth) {
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

std::vector<Evaluation> Evaluator::trial(const tasks::KernelFile& file,
                                         const EvaluationRequest& request) {
  const auto is_cancelled = [this] { return on_device_.cancelled.load(); };
  compile_ahead(*on_device_.host, request, is_cancelled); // so that no compiler disturbs a timing
  try {
    return time_choices(on_device_, file, request.choices, request.turns);
  } catch (const Error& error) {
    return {request.choices.size(), blank(Verdict::Infrastructure, with_remedy(error))};
  }
}

std::optional<Evaluation> Evaluator::stopped_by_precheck(const std::string& text,
                                                         const std::string& file_name) const {
  const auto start = std::chrono::steady_clock::now();
  PrecheckAnswer answer{PrecheckAnswer::Outcome::Passed, {}};
  if (const std::string& command = on_device_.options.precheck; !command.empty()) {
    on_device_.tell(file_name, "is checked by --precheck-cmd", kPrecheckTimeout);
    answer =
        precheck(command, text, kPrecheckTimeout, [this] { return on_device_.cancelled.load(); });
  }
  if (answer.outcome == PrecheckAnswer::Outcome::Passed) {
    return std::nullopt;
  }
  const bool refused = answer.outcome == PrecheckAnswer::Outcome::Refused;
  Evaluation result =
      blank(refused ? Verdict::Refused : Verdict::Infrastructure, std::move(answer.detail));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Evaluation> Evaluator::evaluate(const EvaluationRequest& request) {
  set_incumbent(request.incumbent);
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  if (request.depth == Depth::Trial && parsed.kernel_file) {
    return trial(*parsed.kernel_file, request);
  }
  if (std::optional<Evaluation> stopped = stopped_by_precheck(request.text, request.file_name)) {
    return {*std::move(stopped)};
  }
  if (parsed.kernel_file && !request.choices.empty()) {
    return {evaluate(*parsed.kernel_file, request.choices.front(), request.depth)};
  }
  return {evaluate_default(parsed, request.depth)};
}

void Evaluator::set_incumbent(const std::optional<KernelToBeat>& incumbent) {
  on_device_.incumbent.reset();
  on_device_.suspended.reset();
  if (incumbent) {
    tasks::KernelFileResult parsed = tasks::parse_kernel_file(incumbent->text, "incumbent.cu");
    if (parsed.kernel_file) {
      on_device_.incumbent = {std::move(*parsed.kernel_file), incumbent->parameters,
                              digest_of(*incumbent), incumbent->earned};
    }
  }
}

Evaluation Evaluator::evaluate(const tasks::KernelFile& candidate,
                               const tasks::ParameterChoice& parameters, Depth depth) {
  Evaluation result = attempt(candidate, parameters, depth);
  if (result.verdict == Verdict::Infrastructure && !on_device_.cancelled) {
    result = attempt(candidate, parameters, depth);
  }
  return result;
}

Evaluation Evaluator::evaluate_text(std::string_view text, std::string file_name) {
  return evaluate_default(tasks::parse_kernel_file(text, std::move(file_name)), Depth::Full);
}

} // namespace winnow::evaluators
