#include "harness/tuning/tuned_family.h"

namespace winnow::harness {

const tasks::Evaluation& TunedFamily::best() const {
  const bool has_won = of_winner && of_winner->verdict == tasks::Verdict::Correct &&
                       of_winner->race && of_winner->race->verdict == "faster";
  return has_won ? *of_winner : of_default;
}

} // namespace winnow::harness
