#pragma once

#include "evaluators/selftest/narrowed_reference.h"
#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <vector>

namespace winnow::evaluators {

/// Judges the answers of references with narrowed intermediates at the sizes that are timed.
class NarrowTrial {
public:
  /// The task must have marks.
  NarrowTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options);

  /// One result for each narrowing at each search shape and, if its inputs are not too many for
  /// SelftestOptions::max_input_elements, the largest promotion shape. Throws Error when
  /// reference.cu or the judge fails.
  std::vector<NarrowResult> run();

private:
  /// One draw of inputs and its answer.
  struct Drawn {
    std::uint64_t seed = 0;
    ReferenceCase inputs;
    ReferenceAnswer right;
  };

  std::vector<NarrowResult> run_shape(const tasks::Shape& shape);
  /// True when the result is final and no other inputs are needed.
  bool settle(const Drawn& drawn, NarrowResult& result);

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  std::vector<tasks::Shape> shapes_;
  NarrowedReference reference_;
};

} // namespace winnow::evaluators
