#include "remote/result_check.h"

#include "base/error.h"
#include "remote/evaluation_check.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <vector>

namespace winnow::remote {
namespace {

void require(bool is_right, const SentResult& sent, const std::string& what) {
  if (!is_right) {
    throw Error("worker '" + sent.worker + "' sent " + what);
  }
}

void check_evaluation(const tasks::Evaluation& evaluation, const PoolRules& pool,
                      const SentResult& sent) {
  require(evaluation.evaluator_version == pool.evaluator_version, sent,
          "an evaluation of another version of the evaluator");
  require(evaluation.device == pool.device_kind && evaluation.device_name == pool.device_name, sent,
          "an evaluation of another device, '" + evaluation.device_name + "'");
  require(is_isolated(evaluation.isolation, pool.isolation), sent,
          "an evaluation with the weaker isolation '" + evaluation.isolation + "'");
}

/// A trial has an evaluation for each choice, unless its kernel file is no kernel file.
bool has_all_evaluations(const evaluators::EvaluationRequest& request,
                         const evaluators::EvaluationResult& result) {
  const bool is_trial = request.depth == evaluators::Depth::Trial;
  return result.evaluations.size() == (is_trial ? request.choices.size() : 1) ||
         (result.evaluations.size() == 1 &&
          result.evaluations.front().verdict == tasks::Verdict::BadPlan);
}

/// A kernel file that cannot be parsed, or that a precheck refuses, has no parameters.
bool has_asked_parameters(const evaluators::EvaluationRequest& request, std::size_t index,
                          const tasks::Evaluation& evaluation) {
  const tasks::Verdict verdict = evaluation.verdict;
  const bool may_lack = verdict == tasks::Verdict::BadPlan || verdict == tasks::Verdict::Refused ||
                        verdict == tasks::Verdict::Infrastructure;
  if (evaluation.parameters.empty() && may_lack) {
    return true;
  }
  if (!request.choices.empty()) {
    return evaluation.parameters == request.choices[index];
  }
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(request.text, request.file_name);
  try {
    return parsed.kernel_file && std::vector{evaluation.parameters} ==
                                     tasks::parameter_choices(parsed.kernel_file->plan, 1);
  } catch (const tasks::ExpressionError&) {
    return false;
  }
}

} // namespace

evaluators::EvaluationResult checked_result(const evaluators::EvaluationRequest& request,
                                            const PoolRules& pool, const SentResult& sent) {
  evaluators::EvaluationResult result = evaluators::decode_evaluation_result(sent.body);
  require(result.id == request.id, sent, "the result of another request");
  require(result.fault.empty(), sent, "a fault as a result: " + result.fault);
  require(has_all_evaluations(request, result), sent,
          "not one evaluation for each choice of parameters");
  for (std::size_t i = 0; i < result.evaluations.size(); ++i) {
    const tasks::Evaluation& evaluation = result.evaluations[i];
    check_evaluation(evaluation, pool, sent);
    require(has_asked_parameters(request, i, evaluation), sent,
            "an evaluation of other parameters");
    require(!request.protocol.seed || evaluation.seed == *request.protocol.seed, sent,
            "an evaluation with another seed than the request has");
    const std::string why = fault_of_form(request, evaluation);
    require(why.empty(), sent, why);
  }
  for (tasks::Evaluation& evaluation : result.evaluations) {
    evaluation.worker = sent.worker; // the broker vouches for this name only
  }
  result.worker = sent.worker + " " + result.worker;
  return result;
}

evaluators::SittingAnswer checked_answer(const evaluators::SittingRequest& request,
                                         const PoolRules& pool, const SentResult& sent) {
  evaluators::SittingAnswer answer = evaluators::decode_sitting_answer(sent.body);
  require(answer.id == request.id, sent, "the answer to another request");
  require(answer.boards.size() == request.boards.size(), sent, "not one result for each board");
  for (std::size_t i = 0; i < answer.boards.size(); ++i) {
    auto& result = answer.boards[i].result;
    if (!result) {
      continue;
    }
    result->worker = sent.worker;
    require(result->evaluator_version == pool.evaluator_version, sent,
            "a final of another version of the evaluator");
    require(result->device == pool.device_kind && result->device_name == pool.device_name, sent,
            "a final of another device, '" + result->device_name + "'");
    const auto& finalists = request.boards[i].finalists;
    for (const tasks::SittingRow& row : result->rows) {
      const bool is_asked = std::any_of(
          finalists.begin(), finalists.end(),
          [&](const evaluators::Finalist& finalist) { return finalist.kernel == row.kernel; });
      require(is_asked, sent, "a final with a kernel that is no finalist");
    }
  }
  answer.worker = sent.worker + " " + answer.worker;
  return answer;
}

} // namespace winnow::remote
