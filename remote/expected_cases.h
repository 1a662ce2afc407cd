#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "tasks/result/evaluation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace winnow::remote {

/// A case that an evaluation must have: its stage, its shape, and the seed of its inputs.
struct ExpectedCase {
  tasks::Stage stage = tasks::Stage::Tiny;
  const tasks::Shape* shape = nullptr; ///< of the request's task
  std::uint64_t seed = 0;              ///< a trial: not known
  bool timed = false;
};

/// The cases of an evaluation that passes every stage, in order. The seeds follow from the seed of
/// the evaluation, and whether promotion shapes are timed follows from its speedup. Valid as long
/// as the request's task.
std::vector<ExpectedCase> expected_cases(const evaluators::EvaluationRequest& request,
                                         const tasks::Evaluation& evaluation);

/// How the cases of the evaluation differ from its expected_cases(); empty: they do not. An
/// evaluation that fails a stage may lack the cases after its failure.
std::string difference_of_cases(const evaluators::EvaluationRequest& request,
                                const tasks::Evaluation& evaluation,
                                const std::vector<ExpectedCase>& expected);

/// Whether the evaluation passed every stage that the request asks for.
bool passed_every_stage(const evaluators::EvaluationRequest& request,
                        const tasks::Evaluation& evaluation);

} // namespace winnow::remote
