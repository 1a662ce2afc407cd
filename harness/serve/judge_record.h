#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "harness/brief/brief.h"

#include <string>

namespace winnow::harness {

/// The evaluation without what a client must not learn: sizes, numbers and reasons of hidden
/// shapes, and what a compile by another client would show.
tasks::Evaluation without_hidden(tasks::Evaluation evaluation);

/// What a server sends of an evaluation, so that a command with --server prints what it prints of
/// its own evaluations. As text: JSON with the members "evaluation" (schema
/// "winnow.evaluation-result") and "light".
struct JudgeRecord {
  evaluators::EvaluationResult result;
  LightShares light;
};
std::string written(const JudgeRecord& record);
JudgeRecord read_record(const std::string& text); ///< throws Error

} // namespace winnow::harness
