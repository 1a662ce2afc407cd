#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"
#include "tasks/plan/kernel_file.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Judges correct kernels at every shape of the device and with several seeds.
class HonestTrial {
public:
  HonestTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options) {}

  /// Judges the outputs of reference.cu, rounded once, with one seed.
  HonestResult reference();
  /// `name`: the name in the result. Throws Error when the judge fails.
  HonestResult kernel(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                      const std::string& name);
  /// Times the kernel. Rejects it when it is faster than the task allows for any kernel.
  void time(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
            HonestResult& result);

private:
  /// Empty, with the result's state and detail set, when the plan does not hold for the shape.
  std::vector<RunCase> plan(const BuiltKernel& built, const tasks::Shape& shape,
                            HonestResult& result) const;
  void run_shape(const BuiltKernel& built, const tasks::Shape& shape, HonestResult& result);
  void add(const tasks::Shape& shape, const JudgeReply& reply, HonestResult& result) const;
  void note_magnitude(const ReferenceRun::Seen& magnitude);
  /// "; reference.cu leaves y_magnitude 0 everywhere, ..." if it does; else empty.
  std::string zero_magnitudes() const;

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  std::map<std::string, bool> has_magnitude_; ///< by output: some element has a magnitude above 0
};

} // namespace winnow::evaluators
