#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "harness/exit_codes.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace winnow::harness {

class Interrupt;

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

/// A kernel file and its parameters, as named on the command line.
struct NamedKernel {
  std::string file;
  std::string text;
  std::optional<tasks::KernelFile> kernel_file; ///< nullopt: its plan has mistakes
  tasks::ParameterChoice parameters;
  std::string digest; ///< SHA-256 of text and parameters
};

/// `assignments` are "NAME=VALUE". Takes the first choice of parameters that the plan allows and
/// that has these values. Throws UsageError.
NamedKernel load_kernel(const std::string& file, const std::vector<std::string>& assignments);

/// Judges a few kernels one after the other, with one evaluator for the task, until interrupted.
class KernelSession {
public:
  /// Throws DeviceUnavailable, Error.
  KernelSession(tasks::Task task, const evaluators::DeviceReport& device,
                const evaluators::EvaluationOptions& options, Interrupt& interrupt);
  ~KernelSession();
  KernelSession(const KernelSession&) = delete; // the destructor removes the interrupt handler
  KernelSession& operator=(const KernelSession&) = delete;

  tasks::Evaluation judge(const NamedKernel& kernel);
  /// Kernels that are judged from now on race against `kernel`, which must be correct.
  void set_incumbent(const NamedKernel& kernel);

private:
  evaluators::Evaluator evaluator_;
  Interrupt& interrupt_;
};

/// nullopt for a correct kernel, otherwise the exit code of the command.
std::optional<ExitCode> failing_exit_code(const tasks::Evaluation& evaluation);

} // namespace winnow::harness
