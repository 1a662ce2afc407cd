#include "harness/run/promotion.h"

#include "evaluators/evaluation/evaluator.h"

namespace winnow::harness {

namespace {

/// Without a known interval, the speedup itself stands for both ends.
double low(const tasks::Evaluation& evaluation) {
  return evaluation.speedup_bounds.known() ? evaluation.speedup_bounds.low : evaluation.speedup;
}

double high(const tasks::Evaluation& evaluation) {
  return evaluation.speedup_bounds.known() ? evaluation.speedup_bounds.high : evaluation.speedup;
}

bool raced(const tasks::Evaluation& evaluation, const PastAttempt* incumbent) {
  return evaluation.race && incumbent != nullptr &&
         evaluation.race->rival == digest_of(kernel_of(*incumbent));
}

} // namespace

KernelToBeat kernel_of(const PastAttempt& attempt) {
  return {attempt.text, attempt.evaluation.parameters};
}

bool is_contender(const tasks::Evaluation& evaluation) {
  return evaluation.verdict == tasks::Verdict::Correct && evaluation.promoted &&
         evaluation.evaluator_version == evaluators::kEvaluatorVersion;
}

bool beats(const PastAttempt& attempt, const PastAttempt* incumbent) {
  const tasks::Evaluation& evaluation = attempt.evaluation;
  if (raced(evaluation, incumbent)) {
    return evaluation.race->verdict == "faster";
  }
  return low(evaluation) > (incumbent != nullptr ? high(incumbent->evaluation) : 1);
}

const PastAttempt* leader_of(const Chain& chain) {
  const PastAttempt* leader = nullptr;
  for (const PastAttempt& attempt : chain.attempts) {
    if (is_contender(attempt.evaluation) && beats(attempt, leader)) {
      leader = &attempt;
    }
  }
  return leader;
}

bool may_lead(const tasks::Evaluation& evaluation, const PastAttempt* incumbent) {
  if (evaluation.verdict != tasks::Verdict::Correct) {
    return false;
  }
  if (raced(evaluation, incumbent) && evaluation.hidden_race_ratio > 0) {
    return evaluation.hidden_race_ratio >= kHiddenSpeedShare;
  }
  const double to_match = incumbent != nullptr ? incumbent->evaluation.hidden_speedup : 1;
  const bool both_timed = evaluation.hidden_speedup > 0 && to_match > 0;
  return !both_timed || evaluation.hidden_speedup >= kHiddenSpeedShare * to_match;
}

} // namespace winnow::harness
