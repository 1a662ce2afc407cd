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

/// What every command that judges kernels takes from its command line.
struct JudgingOptions {
  evaluators::EvaluationOptions evaluation;
  std::string isolation;
  std::string time_budget; ///< empty: the command's default for the device
  std::string timeout = "10s";
};

/// --device, --seed, --timeout and --require-isolation. `devices` says what may be given.
void add_judging_options(CLI::App& sub, JudgingOptions& options, const std::string& devices);
/// --time-budget; `defaults` are told.
CLI::Option* add_time_budget(CLI::App& sub, std::string& time_budget, const std::string& defaults);
/// Throws UsageError, NotPermitted.
evaluators::EvaluationOptions resolved(const JudgingOptions& options);

/// The text of a kernel file. Throws UsageError when there is none, or it is too long.
std::string read_kernel(const std::string& file);

/// A kernel file with its parameters, as the command line names them.
struct NamedKernel {
  std::string file;
  std::string text;
  std::optional<tasks::KernelFile> kernel_file; ///< nullopt: its plan has mistakes
  tasks::ParameterChoice parameters;
  std::string digest; ///< SHA-256 of text and parameters
};

/// `assignments` are "NAME=VALUE": the first choice of parameters that the plan allows and that has
/// these values. Throws UsageError.
NamedKernel load_kernel(const std::string& file, const std::vector<std::string>& assignments);

/// Judges few kernels one by one in one session of a task, until interrupted.
class KernelSession {
public:
  /// Throws DeviceUnavailable, Error.
  KernelSession(tasks::Task task, const evaluators::DeviceReport& device,
                const evaluators::EvaluationOptions& options, Interrupt& interrupt);
  ~KernelSession();
  KernelSession(const KernelSession&) = delete; // takes back what interrupts do
  KernelSession& operator=(const KernelSession&) = delete;

  tasks::Evaluation judge(const NamedKernel& kernel);
  /// Those judged from now on race against this one, which must be correct.
  void set_incumbent(const NamedKernel& kernel);

private:
  evaluators::Evaluator evaluator_;
  Interrupt& interrupt_;
};

/// nullopt for a kernel that is correct, else what the command ends with.
std::optional<ExitCode> failing_exit_code(const tasks::Evaluation& evaluation);

} // namespace winnow::harness
