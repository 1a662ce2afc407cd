#include "evaluators/evaluation/whose_fault.h"

namespace winnow::evaluators {

std::optional<Culprit> find_culprit(const std::vector<std::size_t>& contestants,
                                    const std::function<StageOutcome(std::size_t)>& run_alone) {
  for (const std::size_t contestant : contestants) {
    const StageOutcome alone = run_alone(contestant);
    if (alone.cancelled) {
      return std::nullopt;
    }
    if (alone.fault) {
      return Culprit{contestant, *alone.fault};
    }
  }
  return std::nullopt;
}

} // namespace winnow::evaluators
