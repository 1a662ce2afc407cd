#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "tasks/result/evaluation.h"

namespace winnow::remote::test {

/// A kernel whose times are drawn at random.
struct SimulatedKernel {
  double speedup = 1.2; ///< against the baseline, at every shape
  double noise = 0.01;  ///< standard deviation of the logarithm of a time
  tasks::Verdict verdict = tasks::Verdict::Correct; ///< otherwise the first tiny case fails with it
  double incumbent_speedup = 1;                     ///< of the kernel to beat, against the baseline
};

/// The evaluation that a worker of pool_rules() would send of this kernel: all cases of the
/// request, with a seed of its own. Trials take the speedup against the incumbent.
tasks::Evaluation simulated_evaluation(const evaluators::EvaluationRequest& request,
                                       const SimulatedKernel& kernel);

} // namespace winnow::remote::test
