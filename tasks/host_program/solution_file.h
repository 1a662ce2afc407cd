#pragma once

#include "tasks/host_program/host_program.h"

#include <string>

namespace winnow::tasks {

/// Whose solutions: the two benchmarks name languages, hardware and compiler options differently.
enum class SolutionFor : std::uint8_t { FlashInfer, SolExecBench };

/// What a solution says of itself beside its source.
struct SolutionTexts {
  std::string name, author;
  std::string definition; ///< definition.json of the task
};

/// A Solution in JSON: kernel.cu with the kernel, its launch plan as host code, and a function
/// run() that takes the definition's inputs and then its outputs. Sizes come from the tensors.
/// Throws UsageError for a task that is not of a definition, and where no tensor states a size that
/// varies.
std::string solution_file(const HostProgram& program, const SolutionTexts& texts,
                          SolutionFor benchmark);

} // namespace winnow::tasks
