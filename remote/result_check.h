#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "remote/evaluation_check.h"
#include "remote/job_message.h"
#include "tasks/plan/device_facts.h"

#include <string>
#include <string_view>

namespace winnow::remote {

/// A result as a worker sent it.
struct SentResult {
  std::string worker; ///< its name, which the broker has checked
  std::string_view body;
};

/// What results are checked against.
struct ResultRules {
  PoolRules pool;
  tasks::DeviceFacts facts; ///< of the pool's model of device
};

// Every result of a worker passes one of these two functions before it counts. They throw Error,
// with the worker's name and the reason, if the result is no result, answers another request, or
// comes from another kind of device than the pool has. `request` is what the coordinator asked.

/// Also throws if the result contradicts itself (contradiction_in()), or repeats one of `seen`.
/// Adds the result to `seen`.
evaluators::EvaluationResult checked_result(const evaluators::EvaluationRequest& request,
                                            const ResultRules& rules, const SentResult& sent,
                                            SeenEvaluations& seen);
/// A final travels without its samples, so nothing in a final can be computed again. Only trusted
/// workers hold finals.
evaluators::SittingAnswer checked_answer(const evaluators::SittingRequest& request,
                                         const PoolRules& pool, const SentResult& sent);

} // namespace winnow::remote
