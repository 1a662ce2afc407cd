#include "search/outcome.h"

#include "base/digest.h"
#include "tasks/plan/kernel_file.h"

#include <algorithm>

namespace winnow::search {
namespace {

/// Without a known interval, the speedup itself stands for both ends.
double low(const Outcome& outcome) {
  return outcome.speedup_bounds.known() ? outcome.speedup_bounds.low : outcome.speedup;
}

double high(const Outcome& outcome) {
  return outcome.speedup_bounds.known() ? outcome.speedup_bounds.high : outcome.speedup;
}

bool raced(const Outcome& outcome, const Outcome* incumbent) {
  return outcome.race && incumbent != nullptr && outcome.race->incumbent == incumbent->kernel;
}

/// Text and device code differ where the launch plan stands.
std::string launch_plan_in(std::string_view text) {
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "candidate.cu");
  std::string plan;
  if (parsed.kernel_file) {
    const std::string& all = parsed.kernel_file->text;
    const std::string& source = parsed.kernel_file->source;
    for (std::size_t i = 0; i < std::min(all.size(), source.size()); ++i) {
      plan += all[i] != source[i] ? std::string(1, all[i]) : "";
    }
  }
  return plan;
}

/// Outcome::code.
std::string code_of(const tasks::Evaluation& evaluation, std::string_view text) {
  const std::string& machine_code = evaluation.build.machine_code_digest;
  return machine_code.empty()
             ? ""
             : sha256_hex(machine_code + ' ' + tasks::parameters_text(evaluation.parameters) + ' ' +
                          launch_plan_in(text));
}

} // namespace

double overall(const Trial& trial) {
  return tasks::geometric_mean(trial.speeds);
}

std::vector<double> ratios_to_incumbent(const tasks::CaseResult& timed) {
  std::vector<double> ratios;
  const auto pairs = std::min(timed.samples_ns.size(), timed.incumbent_samples_ns.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratios.push_back(timed.incumbent_samples_ns[i] / timed.samples_ns[i]);
  }
  return ratios;
}

Trial trial_of(const tasks::Evaluation& evaluation) {
  Trial trial{evaluation.parameters, evaluation.verdict, evaluation.build.machine_code_digest, {}};
  for (const tasks::CaseResult& timed : evaluation.cases) {
    trial.speeds.push_back(tasks::median(ratios_to_incumbent(timed)));
  }
  return trial;
}

Outcome outcome_of(const tasks::Evaluation& evaluation, std::string_view text) {
  Outcome outcome;
  outcome.verdict = evaluation.verdict;
  outcome.evaluator_version = evaluation.evaluator_version;
  outcome.kernel = tasks::kernel_digest(text, evaluation.parameters);
  outcome.code = code_of(evaluation, text);
  outcome.speedup = evaluation.speedup;
  outcome.speedup_bounds = evaluation.speedup_bounds;
  outcome.hidden_speedup = evaluation.hidden_speedup;
  outcome.promoted = evaluation.promoted;
  if (evaluation.race) {
    outcome.race = {evaluation.race->rival, evaluation.race->verdict == "faster",
                    evaluation.hidden_race_ratio};
  }
  outcome.speed_of_light = least_speed_of_light(evaluation);
  outcome.cell = cell_of(evaluation);
  outcome.device_seconds = evaluation.seconds;
  return outcome;
}

bool is_contender(const Outcome& outcome, int evaluator_version) {
  return outcome.verdict == tasks::Verdict::Correct && outcome.promoted &&
         outcome.evaluator_version == evaluator_version;
}

bool beats(const Outcome& outcome, const Outcome* incumbent) {
  if (raced(outcome, incumbent)) {
    return outcome.race->faster;
  }
  return low(outcome) > (incumbent != nullptr ? high(*incumbent) : 1);
}

bool is_better(const Outcome& choice, const Outcome& of_default) {
  return choice.verdict == tasks::Verdict::Correct && (choice.promoted || !of_default.promoted) &&
         choice.speedup > of_default.speedup;
}

bool may_lead(const Outcome& outcome, const Outcome* incumbent) {
  if (outcome.verdict != tasks::Verdict::Correct) {
    return false;
  }
  if (raced(outcome, incumbent) && outcome.race->hidden_ratio > 0) {
    return outcome.race->hidden_ratio >= kHiddenSpeedShare;
  }
  const double to_match = incumbent != nullptr ? incumbent->hidden_speedup : 1;
  const bool both_timed = outcome.hidden_speedup > 0 && to_match > 0;
  return !both_timed || outcome.hidden_speedup >= kHiddenSpeedShare * to_match;
}

} // namespace winnow::search
