#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <cstdint>
#include <span>
#include <string>
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
  std::vector<MutantResult> untried(const tasks::Shape& shape) const;
  /// Tries one input. True when the result is final and no other input is needed. `drawn` is as
  /// before when the call returns.
  bool settle(Drawn& drawn, MutantResult& result);
  bool settle_changed(const Drawn& drawn, const tasks::Shape& shape, MutantResult& result);
  void save_inputs(const Drawn& drawn, const tasks::Mutant& mutant);
  void restore_inputs(Drawn& drawn);
  /// Rounds the mutant's outputs. False: they are the right ones.
  bool take_outputs(std::span<const ReferenceRun::Seen> outputs, const Drawn& drawn,
                    const tasks::Mutant& mutant);

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
  // Memory that is used again for each mutant, because new pages take longer than their contents.
  tasks::HostTensors saved_; ///< the inputs before a mutant changed them
  std::vector<std::string> saved_names_;
  tasks::HostTensors rounded_; ///< the mutant's outputs
};

} // namespace winnow::evaluators
