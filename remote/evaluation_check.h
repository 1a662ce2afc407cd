#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "tasks/result/evaluation.h"

#include <string>

namespace winnow::remote {

/// How the form of a worker's evaluation differs from what its request asks for; empty: it does
/// not. Each case is of a shape of the task, a verdict agrees with its cases, an evaluation that
/// passed has a case at every shape, and times are times. What the worker has measured is its own
/// word.
std::string fault_of_form(const evaluators::EvaluationRequest& request,
                          const tasks::Evaluation& evaluation);

} // namespace winnow::remote
