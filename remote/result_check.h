#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "remote/job_message.h"

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

} // namespace winnow::remote
