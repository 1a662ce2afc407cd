#include "harness/serve/judge_record.h"

#include "evaluators/evaluation/evaluation_request.h"

#include <utility>

namespace winnow::harness {

tasks::Evaluation without_hidden(tasks::Evaluation evaluation) {
  const auto is_hidden = [](const tasks::CaseResult& one) {
    return one.stage == tasks::Stage::Promotion || tasks::is_hidden(one.set);
  };
  std::erase_if(evaluation.cases, is_hidden);
  if (evaluation.verdict == tasks::Verdict::WrongUnseen ||
      evaluation.stage == tasks::Stage::Promotion) {
    evaluation.detail.clear();
  }
  evaluation.hidden_speedup = evaluation.hidden_race_ratio = 0;
  evaluation.build.from_cache = false;
  evaluation.build.seconds = evaluation.build.compiler_ms = evaluation.build.load_ms = 0;
  return evaluation;
}

std::string record_text(const std::string& job, const tasks::Evaluation& evaluation) {
  return evaluators::encode(
      evaluators::EvaluationResult{job, "", {without_hidden(evaluation)}, ""});
}

} // namespace winnow::harness
