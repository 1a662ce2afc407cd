#pragma once

#include "evaluators/evaluation/evaluator.h"

#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace winnow::harness {

/// The command-line options that all commands that judge kernels share.
struct JudgingOptions {
  evaluators::EvaluationOptions evaluation;
  std::string isolation;
  std::string time_budget; ///< empty: the command's default for the device
  std::string timeout = "10s";
};

/// Adds --device, --seed, --timeout and --require-isolation. `devices` describes the allowed
/// devices in the help text.
void add_judging_options(CLI::App& sub, JudgingOptions& options, const std::string& devices);
/// Adds --time-budget. `defaults` describes the defaults in the help text.
CLI::Option* add_time_budget(CLI::App& sub, std::string& time_budget, const std::string& defaults);
/// Throws UsageError and NotPermitted.
evaluators::EvaluationOptions resolved(const JudgingOptions& options);

/// The text of a kernel file. Throws UsageError if the file does not exist or is too long.
std::string read_kernel(const std::string& file);

} // namespace winnow::harness
