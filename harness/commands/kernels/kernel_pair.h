#pragma once

#include "harness/commands/judging.h"
#include "harness/exit/exit_codes.h"
#include "harness/report/kernel_pair_report.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The command line of `race` and `profile`.
struct PairCommand {
  std::string task;
  /// Of candidates; what is measured is stored there, too. Empty: the usual store for candidates,
  /// and nothing is stored.
  std::string store;
  std::string file, against;                               ///< `against` may be empty
  std::vector<std::string> parameters, against_parameters; ///< "NAME=VALUE"
  JudgingOptions judging;
  bool json = false;
};

/// How a command judges a pair and shows it.
struct PairMethod {
  std::chrono::milliseconds cpu_budget, gpu_budget; ///< the defaults of --time-budget
  std::function<void(evaluators::EvaluationOptions&)> adapt;
  nlohmann::json (*document)(const KernelPair&);
  std::string (*text)(const nlohmann::json& document);
  std::string name;        ///< "race", "profile"
  bool needs_race = false; ///< without a race the command has failed
};

/// Adds TASK and the options of both commands. `time_budget`: the defaults in words; `json`: what
/// --json prints.
void add_pair_options(CLI::App& sub, PairCommand& command, const std::string& time_budget,
                      const std::string& json);

/// Judges the kernels and prints the report. Of a plan's parameters it takes the first choice that
/// the plan allows and that has the given values and, for a candidate, the candidate's values.
/// Throws UsageError, DeviceUnavailable, Error.
ExitCode judge_pair(const PairCommand& command, const PairMethod& method);

} // namespace winnow::harness
