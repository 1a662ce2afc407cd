#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <cstdint>
#include <string>
#include <vector>

// The parts of a selftest, for the .cpp files of this folder. Each throws Error when the reference,
// PyTorch or the judge fails.
namespace winnow::evaluators {

constexpr std::uint64_t kStaleSeed = 0x57a1e; ///< added to the seed whose output is stale

/// Records the judge's reply about the mutant at a shape.
void note(const JudgeReply& reply, const tasks::Shape& shape, MutantResult& result);

/// Runs the mutants on one set of shapes until each is rejected or no shapes and seeds are left.
/// Leaves out the mutants that every shape must reject.
std::vector<MutantResult> try_on_set(TaskOnDevice& on_device, ReferenceRun& runner,
                                     const SelftestOptions& options, tasks::ShapeSet set);

/// Runs the mutants that every single shape must reject, whatever its size.
std::vector<MutantResult> try_on_shape(TaskOnDevice& on_device, ReferenceRun& runner,
                                       const SelftestOptions& options, tasks::ShapeSet set,
                                       const tasks::Shape& shape);

struct ModuleResults {
  std::vector<MutantResult> mutants; ///< a shape with one input of five that rejects rejects
  KernelResult honest;
};

/// Tests a task whose reference is a PyTorch module, at the tiny and the search shapes, with
/// SelftestOptions::seeds inputs each. PyTorch computes the mutants. The module in its own dtypes
/// is the honest kernel.
ModuleResults try_module(TaskOnDevice& on_device, ReferenceRun& runner,
                         const SelftestOptions& options);

/// Judges the answers of references with narrowed intermediates at each search shape and, if its
/// inputs are not too many for SelftestOptions::max_input_elements, at the largest promotion shape:
/// one result for each narrowing and shape. The task must have marks.
std::vector<NarrowResult> try_narrowings(TaskOnDevice& on_device, ReferenceRun& runner,
                                         const SelftestOptions& options);

/// Why the task's `operations` cannot be right: a sentence with that figure and the number of
/// elements that reference.cu loads and stores. A kernel does some operations per access, and most
/// kernels do few. Empty if the figures fit, or if the device cannot count (GPUs).
std::string doubt_about_operations(TaskOnDevice& on_device, ReferenceRun& runner,
                                   const SelftestOptions& options);

} // namespace winnow::evaluators
