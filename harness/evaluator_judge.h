#pragma once

#include "evaluators/evaluator.h"
#include "harness/judge.h"

namespace winnow::harness {

/// The real judge: evaluators::Evaluator.
class EvaluatorJudge : public Judge {
public:
  EvaluatorJudge(const tasks::Task& task, const evaluators::EvaluationOptions& options)
      : evaluator_(task, options) {}
  std::vector<tasks::Evaluation> judge(std::string_view text, std::string file_name,
                                       std::size_t max_variants) override;
  void cancel() override { evaluator_.cancel(); }

private:
  evaluators::Evaluator evaluator_;
};

JudgeFactory evaluator_judges(evaluators::EvaluationOptions options);

} // namespace winnow::harness
