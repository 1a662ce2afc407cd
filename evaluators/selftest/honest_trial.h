#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"
#include "tasks/kernel_file.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// Kernels that are right, at every shape of the device and with several seeds.
class HonestTrial {
public:
  HonestTrial(Session& session, ReferenceRun& runner, const SelftestOptions& options)
      : session_(session), runner_(runner), options_(options) {}

  /// What reference.cu computes, rounded once, with one seed.
  HonestResult reference();
  /// `name` for the result. Throws Error when the judge fails.
  HonestResult kernel(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                      const std::string& name);

private:
  /// Nothing, with the result's state and detail set, when the plan does not hold for the shape.
  std::vector<RunCase> plan(const BuiltKernel& built, const tasks::Shape& shape,
                            HonestResult& result) const;
  void run_shape(const BuiltKernel& built, const tasks::Shape& shape, HonestResult& result);
  static void add(const tasks::Shape& shape, const JudgeReply& reply, HonestResult& result);

  Session& session_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
};

} // namespace winnow::evaluators
