#include "harness/commands/judging.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/config/duration.h"
#include "harness/interrupt.h"
#include "harness/judging/judge.h"
#include "harness/machine.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostChoices = 100'000;

std::vector<std::string> values_of(const tasks::Parameter& parameter) {
  std::vector<std::string> values;
  for (const std::int64_t value : parameter.values) {
    values.push_back(std::to_string(value));
  }
  return values;
}

/// Adds "NAME=VALUE" to `wanted`.
void add_assignment(const tasks::KernelFile& file, const std::string& assignment,
                    tasks::ParameterChoice& wanted) {
  const std::size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const std::string text = equals == std::string::npos ? "" : assignment.substr(equals + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError("'" + assignment + "' is no NAME=VALUE with an integer value");
  }
  std::vector<std::string> names;
  for (const tasks::Parameter& parameter : file.plan.parameters) {
    names.push_back(parameter.name);
    if (parameter.name != name) {
      continue;
    }
    if (std::find(parameter.values.begin(), parameter.values.end(), value) ==
        parameter.values.end()) {
      throw UsageError(fmt::format("{}: {} is not a value of {}; its plan allows {}", file.file,
                                   value, name, join(values_of(parameter), ", ")));
    }
    wanted[name] = value;
    return;
  }
  throw UsageError(file.file + ": no parameter '" + name + "'" + suggestion(name, names));
}

bool agrees(const tasks::ParameterChoice& choice, const tasks::ParameterChoice& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& one) { return choice.at(one.first) == one.second; });
}

/// nullopt if the plan allows no choice with these values.
std::optional<tasks::ParameterChoice> choice_of(const tasks::KernelFile& file,
                                                const std::vector<std::string>& assignments) {
  tasks::ParameterChoice wanted;
  for (const std::string& assignment : assignments) {
    add_assignment(file, assignment, wanted);
  }
  for (const tasks::ParameterChoice& choice :
       tasks::parameter_choices(file.plan, wanted.empty() ? 1 : kMostChoices)) {
    if (agrees(choice, wanted)) {
      return choice;
    }
  }
  return std::nullopt;
}

/// Like choice_of(). nullopt also if the plan cannot be evaluated.
std::optional<tasks::ParameterChoice> allowed_choice(const tasks::KernelFile& file,
                                                     const std::vector<std::string>& assignments) {
  try {
    return choice_of(file, assignments);
  } catch (const tasks::ExpressionError&) {
    return std::nullopt;
  }
}

} // namespace

void add_judging_options(CLI::App& sub, JudgingOptions& options, const std::string& devices) {
  sub.add_option("--device", options.evaluation.device, devices)->capture_default_str();
  sub.add_option("--seed", options.evaluation.seed,
                 "repeats an evaluation: the seed that it has shown; boards do not rank it "
                 "(default: drawn for each evaluation)")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
  sub.add_option("--timeout", options.timeout, "wall-clock limit of one stage")
      ->capture_default_str();
  sub.add_option("--require-isolation", options.isolation,
                 "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) where the sandbox "
                 "would be weaker")
      ->check(CLI::IsMember({"rlimits", "landlock+seccomp", "bubblewrap"}));
}

CLI::Option* add_time_budget(CLI::App& sub, std::string& time_budget, const std::string& defaults) {
  return sub.add_option("--time-budget", time_budget,
                        "sampling time per shape and kernel; default " + defaults);
}

evaluators::EvaluationOptions resolved(const JudgingOptions& options) {
  evaluators::EvaluationOptions evaluation = options.evaluation;
  evaluation.counters = evaluators::Counting::Off; // the `profile` command turns them on
  if (!options.time_budget.empty()) {
    evaluation.time_budget = duration_option("--time-budget", options.time_budget);
  }
  evaluation.run_timeout = duration_option("--timeout", options.timeout);
  if (!options.isolation.empty()) {
    evaluation.require_isolation = process::isolation_from_string(options.isolation);
  }
  check_isolation(evaluation);
  return evaluation;
}

std::string read_kernel(const std::string& file) {
  if (fs::is_directory(file)) {
    throw UsageError(file + " is a directory; expected a kernel file");
  }
  if (!fs::exists(file)) {
    throw UsageError(file + ": no such file");
  }
  std::error_code not_regular; // a pipe has no size; read_file() limits its size too
  const auto bytes = fs::file_size(file, not_regular);
  if (!not_regular && bytes > tasks::kMaxKernelFileBytes) {
    throw UsageError(file + " has " + std::to_string(bytes) + " bytes; a kernel file has at most " +
                     std::to_string(tasks::kMaxKernelFileBytes));
  }
  return read_file(file, tasks::kMaxKernelFileBytes);
}

NamedKernel load_kernel(const std::string& file, const std::vector<std::string>& assignments) {
  NamedKernel kernel;
  kernel.file = file;
  kernel.text = read_kernel(file);
  kernel.kernel_file = tasks::parse_kernel_file(kernel.text, file).kernel_file;
  if (kernel.kernel_file) {
    const auto choice = allowed_choice(*kernel.kernel_file, assignments);
    if (!choice && !assignments.empty()) {
      throw UsageError(file + ": no choice of parameters with these values satisfies every `where` "
                              "of its plan");
    }
    kernel.parameters = choice.value_or(tasks::ParameterChoice{});
    if (!choice) {
      kernel.kernel_file.reset(); // the evaluation of the text gives the reason
    }
  }
  kernel.digest = digest_of(KernelToBeat{kernel.text, kernel.parameters});
  return kernel;
}

KernelSession::KernelSession(tasks::Task task, const evaluators::DeviceReport& device,
                             const evaluators::EvaluationOptions& options, Interrupt& interrupt)
    : evaluator_(std::move(task), evaluators::open_device(device, options), options),
      interrupt_(interrupt) {
  interrupt_.on_first([this] { evaluator_.cancel(); });
}

KernelSession::~KernelSession() {
  interrupt_.on_first({});
}

tasks::Evaluation KernelSession::judge(const NamedKernel& kernel) {
  return kernel.kernel_file ? evaluator_.evaluate(*kernel.kernel_file, kernel.parameters)
                            : evaluator_.evaluate_text(kernel.text, kernel.file);
}

void KernelSession::set_incumbent(const NamedKernel& kernel) {
  evaluator_.set_incumbent(
      evaluators::Incumbent{kernel.kernel_file.value(), kernel.parameters, kernel.digest});
}

std::optional<ExitCode> failing_exit_code(const tasks::Evaluation& evaluation) {
  switch (evaluation.verdict) {
  case tasks::Verdict::Correct:
    return std::nullopt;
  case tasks::Verdict::Infrastructure:
  case tasks::Verdict::NotJudged:
    return ExitCode::Failure;
  default:
    return ExitCode::NotCorrect;
  }
}

} // namespace winnow::harness
