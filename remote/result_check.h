#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "remote/job_message.h"
#include "tasks/result/evaluation.h"

#include <string>
#include <string_view>

namespace winnow::remote {

/// A result as a worker sent it.
struct SentResult {
  std::string worker; ///< its name, which the broker has checked
  std::string_view body;
};

// Every result of a worker passes one of these two functions before it counts. They throw Error,
// with the worker's name and the reason, if the result is no result, answers another request, has
// another form than the request needs, or comes from another kind of device than the pool has.
// `request` is what the coordinator asked.

evaluators::EvaluationResult checked_result(const evaluators::EvaluationRequest& request,
                                            const PoolRules& pool, const SentResult& sent);
evaluators::SittingAnswer checked_answer(const evaluators::SittingRequest& request,
                                         const PoolRules& pool, const SentResult& sent);

/// How the form of a worker's evaluation differs from what its request asks for; empty: it does
/// not. Each case is of a shape of the task, a verdict agrees with its cases, an evaluation that
/// passed has a case at every shape, and times are times. What the worker has measured is its own
/// word.
std::string fault_of_form(const evaluators::EvaluationRequest& request,
                          const tasks::Evaluation& evaluation);

} // namespace winnow::remote
