#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "tasks/plan/device_facts.h"
#include "tasks/result/evaluation.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace winnow::remote {

/// How an evaluation of a worker contradicts its request or itself; empty: it does not. Everything
/// that follows from the samples is computed again: medians, intervals, speedups, race, score, and
/// the physical floor of a device with these facts. A contradiction proves that the worker lies or
/// is broken. An evaluation without one may still be a lie, which only another worker finds.
std::string contradiction_in(const evaluators::EvaluationRequest& request,
                             const tasks::DeviceFacts& facts, const tasks::Evaluation& evaluation);

/// Knows the seeds and the samples of the results that counted, and so the ones that come again.
/// Any thread may use it.
class SeenEvaluations {
public:
  /// Which part of the result was in an earlier one; empty: none, and then the result is kept. Few
  /// samples, or samples of a coarse clock, may repeat by chance and do not count.
  std::string add_or_repetition(const evaluators::EvaluationRequest& request,
                                const std::vector<tasks::Evaluation>& evaluations);

private:
  std::mutex mutex_;                                  ///< guards the members below
  std::unordered_set<std::uint64_t> seeds_, samples_; ///< samples: digests
};

} // namespace winnow::remote
