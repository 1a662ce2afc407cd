#pragma once

#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"
#include "tasks/reference/narrowing.h"

#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// reference.cu with intermediates that are rounded to coarser formats (narrowing.h). One
/// module serves all narrowings of a task: a first launch, which each plan adds, tells the module
/// what to round.
class NarrowedReference {
public:
  /// Compiles reference.cu for these shapes. Throws Error.
  NarrowedReference(TaskOnDevice& on_device, const std::vector<tasks::Shape>& shapes);

  NarrowedReference(const NarrowedReference&) = delete; // its kernels point at its files
  NarrowedReference& operator=(const NarrowedReference&) = delete;

  /// The reference with this narrowing; valid as long as this object.
  const BuiltKernel& with(const tasks::Narrowing& narrowing);

private:
  tasks::KernelFile file_for(const tasks::Narrowing& narrowing) const;

  std::vector<std::string> names_;
  tasks::KernelFile text_; ///< its marks are calls; its plan lacks the first launch
  struct Variant {
    tasks::KernelFile file;
    BuiltKernel built;
  };
  Variant compiled_;                        ///< rounds one of them; the others share its module
  std::map<std::string, Variant> variants_; ///< by to_string(Narrowing); `built` points at `file`
};

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
