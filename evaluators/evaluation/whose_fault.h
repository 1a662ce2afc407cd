#pragma once

#include "evaluators/worker/runner.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace winnow::evaluators {

/// A kernel that faults without others beside it.
struct Culprit {
  std::size_t contestant = 0;
  DeviceFault fault;
};

/// Whose fault it was that kernels which took turns could not go on. Whoever ran when the fault was
/// seen need not be at fault: another kernel may have written the word before. So each contestant
/// runs alone on fresh buffers, in this order, until one faults. nullopt: nobody does, or the
/// evaluation was cancelled. The fault is then not reproduced, and nobody is blamed.
std::optional<Culprit> find_culprit(const std::vector<std::size_t>& contestants,
                                    const std::function<StageOutcome(std::size_t)>& run_alone);

} // namespace winnow::evaluators
