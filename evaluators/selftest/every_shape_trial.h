#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <vector>

namespace winnow::evaluators {

/// Runs the mutants that every single shape must reject, whatever its size.
class EveryShapeTrial {
public:
  EveryShapeTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options,
                  tasks::ShapeSet set)
      : on_device_(on_device), runner_(runner), options_(options), set_(set) {}

  /// One result for each mutant. Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run(const tasks::Shape& shape);

private:
  /// One draw of inputs and its correct answer.
  struct Drawn {
    std::uint64_t seed = 0;
    ReferenceCase inputs;
    ReferenceAnswer right;
  };

  std::vector<MutantResult> untried(const tasks::Shape& shape) const;
  /// Tries one input. True when the result is final and no other input is needed.
  bool settle(const Drawn& drawn, MutantResult& result);

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
};

} // namespace winnow::evaluators
