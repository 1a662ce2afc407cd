#pragma once

#include "base/draws.h"
#include "search/policy.h"
#include "search/population.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace winnow::search {

/// A kernel that a call may build on.
struct ParentOption {
  const Individual* kernel = nullptr;
  double quality = 0; ///< the best value of the kernel and its children
  int visits = 0;     ///< calls that built on the kernel or a near descendant
};

/// All options, in the order in which the rule prefers them. The options come fastest first.
/// `calls`: that the search has decided so far.
std::vector<const Individual*> by_preference(ArchivePolicy::Parents rule,
                                             const std::vector<ParentOption>& options,
                                             std::size_t calls, Draws& draws);

/// The faster and the slower of two kernels that differ clearly in speed, drawn as CUDA-L1 draws
/// its exemplars: bands of speed with a chance that grows with their speed, and any kernel of a
/// band. Two nullptr: all kernels are of one band.
using Contrast = std::pair<const Individual*, const Individual*>;
Contrast drawn_contrast(const std::vector<ParentOption>& options, Draws& draws);

/// How far a kernel came, as KernelFoundry scores kernels: 0 no code, 1 does not compile, 2 does
/// not run, 4 wrong, 5 + speedup if correct.
double fitness(const Individual& individual);

/// Exemplars of a contrast differ by this factor at least.
constexpr double kSlowerBand = 1.3;
/// A gain in log speedup that is worth a call.
constexpr double kWorthwhileGain = 0.02;

} // namespace winnow::search
