#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Tests a task whose reference is a PyTorch module. PyTorch computes the mutants. The module in
/// its own dtypes is the honest kernel.
class ModuleTrial {
public:
  ModuleTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options) {}

  struct Results {
    std::vector<MutantResult> mutants; ///< a shape with one input of five that rejects rejects
    KernelResult honest;
  };
  /// At the tiny and the search shapes, with SelftestOptions::seeds inputs each. Throws Error when
  /// PyTorch or the judge fails.
  Results run();

private:
  void run_set(tasks::ShapeSet set, Results& results);
  void run_case(const tasks::Shape& shape, std::uint64_t seed, const tasks::HostTensors& stale,
                std::vector<MutantResult>& mutants, KernelResult& honest);
  /// nullopt: the mutant does not apply.
  std::optional<tasks::HostTensors> outputs_of(const std::string& mutant, const tasks::Shape& shape,
                                               const tasks::HostTensors& inputs);
  tasks::HostTensors own_outputs(const tasks::Shape& shape, std::uint64_t seed);

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
};

} // namespace winnow::evaluators
