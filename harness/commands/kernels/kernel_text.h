#pragma once

#include "harness/commands/commands.h"
#include "harness/named/named_task.h"
#include "search/trial.h"
#include "tasks/plan/plan.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// A kernel file as the command line names it: by its path, or as a candidate of a store.
struct KernelText {
  std::string name; ///< for messages: the path, "@43" or kStandardInput
  std::string text;
  tasks::ParameterChoice parameters; ///< of the candidate's evaluation; empty: the file's default
  std::vector<search::Trial> tried = {}; ///< TunedFamily::trials of a candidate of a store here
};

inline constexpr const char* kStandardInput = "standard input";

/// The end of a help text, after "kernel files".
constexpr const char* kOrCandidate = ", - for standard input, or @ID for a candidate of the store: "
                                     "its number, or the beginning of its file's digest";

/// Adds --store, where @ID looks a candidate up.
CLI::Option* add_store_of_kernels(CLI::App& sub, std::string& store);

/// "@43", "@68105b4c", or a path. Digits as on a board ("68105b4c") name a candidate if there is no
/// such file. "-", or a path such as /dev/stdin: standard input. Throws UsageError if there is no
/// such file or candidate, if the file is too long, or if the candidate is of another task.
KernelText read_kernel(const std::string& name, CommandStore& store, const std::string& task);

/// Throws where read_kernel() will for one of the names, without taking the bytes of a pipe. Throws
/// UsageError, too, if standard input is named twice.
void check_kernels(const std::vector<std::string>& names, CommandStore& store,
                   const std::string& task);

/// "BLOCK=128", as the options for parameters take them.
std::vector<std::string> assignments_of(const tasks::ParameterChoice& parameters);

/// The beginning of the path of a new file about the kernel: "candidate-43", "kernel" for standard
/// input, or the stem of its own path.
std::string stem_of(const std::string& name);

} // namespace winnow::harness
