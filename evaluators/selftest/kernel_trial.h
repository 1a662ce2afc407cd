#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"
#include "tasks/plan/kernel_file.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Judges kernel files of the task at every shape of the device and with several seeds.
class KernelTrial {
public:
  KernelTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options) {}

  /// Judges the outputs of reference.cu, rounded once, with one seed.
  KernelResult reference();
  /// `name`: the name in the result. Throws Error when the judge fails.
  KernelResult kernel(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                      const std::string& name);
  /// For an honest kernel: times it, and rejects it when it is faster than the task allows for any
  /// kernel.
  void time(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
            KernelResult& result);

  /// For a wrong kernel that kernel() accepts: judges it as a candidate, timed launches and hidden
  /// shapes included.
  void judge_as_candidate(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                          KernelResult& result);

private:
  /// Empty, with the result's state and detail set, when the plan does not hold for the shape.
  std::vector<RunCase> plan(const BuiltKernel& built, const tasks::Shape& shape,
                            KernelResult& result) const;
  void run_shape(const BuiltKernel& built, const tasks::Shape& shape, KernelResult& result);
  void add(const tasks::Shape& shape, const JudgeReply& reply, KernelResult& result) const;
  /// At search shapes, for the first of `cases`, whose outputs are in the arena.
  void measure(const tasks::Shape& shape, const RunCase& first, KernelResult& result);
  void note_magnitude(const ReferenceRun::Seen& magnitude);
  /// "; reference.cu leaves y_magnitude 0 everywhere, ..." if it does; else empty.
  std::string zero_magnitudes() const;

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  std::map<std::string, bool> has_magnitude_; ///< by output: some element has a magnitude above 0
  std::map<std::string, ReferenceAnswer> answers_; ///< for measure(), by search shape
};

} // namespace winnow::evaluators
