#include "tasks/result/fitted.h"

#include "tasks/result/least_hidden.h"

#include <algorithm>

namespace winnow::tasks {

bool is_fitted(const Evaluation& evaluation) {
  return std::any_of(
      evaluation.cases.begin(), evaluation.cases.end(), [&](const CaseResult& timed) {
        const bool counts = timed.set == ShapeSet::Promotion && timed.detail.empty() &&
                            timed.median_ns >= least_hidden_ns(evaluation.device);
        return counts && timed.speedup > 0 && timed.speedup < kFittedShare * evaluation.speedup;
      });
}

} // namespace winnow::tasks
