#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/evaluation/evaluation_request.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

/// The default of --time-budget where a race decides.
std::chrono::milliseconds race_budget(std::string_view device_kind);

/// The first evaluation. Throws Error for a fault. nullopt, which means interrupted, becomes an
/// evaluation without a verdict.
tasks::Evaluation evaluation_of(std::optional<evaluators::EvaluationResult> result);

} // namespace winnow::harness
