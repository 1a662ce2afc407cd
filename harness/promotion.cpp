#include "harness/promotion.h"

namespace winnow::harness {

bool may_lead(const tasks::Evaluation& evaluation, double incumbent_hidden_speedup) {
  const bool both_timed = evaluation.hidden_speedup > 0 && incumbent_hidden_speedup > 0;
  return evaluation.verdict == tasks::Verdict::Correct &&
         (!both_timed || evaluation.hidden_speedup >= kHiddenSpeedShare * incumbent_hidden_speedup);
}

} // namespace winnow::harness
