#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "harness/commands/commands.h"
#include "harness/named/named_task.h"
#include "harness/report/eval_printer.h"
#include "tasks/task/task.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// The options of `eval --compile-only`.
struct CompileOptions {
  bool compile_only = false;
  std::string architecture, gpu; ///< see target_gpu()
  bool sass = false;             ///< also print the machine code
};
/// Adds --compile-only, --arch, --gpu and --sass, and returns them.
std::vector<CLI::Option*> add_compile_options(CLI::App& sub, CompileOptions& options);
/// Throws UsageError for an option that works only with --compile-only.
void check_compile_options(const CompileOptions& options);

/// Compiles the files for a GPU that this machine need not have, and runs nothing. If a model of
/// GPU is named, checks the launches of the plans with its facts.
ExitCode compile_kernels(const CompileOptions& command, const std::vector<std::string>& files,
                         CommandStore& store, const tasks::Task& task,
                         const evaluators::EvaluationOptions& options, EvalPrinter& printer);

} // namespace winnow::harness
