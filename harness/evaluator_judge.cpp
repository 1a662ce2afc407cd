#include "harness/evaluator_judge.h"

namespace winnow::harness {

std::vector<tasks::Evaluation> EvaluatorJudge::judge(std::string_view text, std::string file_name,
                                                     std::size_t max_variants) {
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file_name);
  if (!parsed.kernel_file) {
    return {evaluator_.evaluate_text(text, std::move(file_name))}; // says what is wrong with it
  }
  return evaluator_.evaluate_family(*parsed.kernel_file, max_variants);
}

JudgeFactory evaluator_judges(evaluators::EvaluationOptions options) {
  return [options = std::move(options)](const tasks::Task& task) {
    return std::make_unique<EvaluatorJudge>(task, options);
  };
}

} // namespace winnow::harness
