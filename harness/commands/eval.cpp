#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/config.h"
#include "harness/duration.h"
#include "harness/eval_report.h"
#include "harness/evaluator_judge.h"
#include "harness/interrupt.h"
#include "harness/machine.h"

#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

struct EvalCommand {
  std::string task;
  std::string file;
  std::string isolation;
  std::string time_budget = "150ms";
  std::string timeout = "10s";
  std::size_t max_variants = 1;
  evaluators::EvaluationOptions options;
  bool no_promotion = false;
  bool no_check = false;
  bool no_timing = false;
  bool json = false;
};

std::chrono::milliseconds duration_option(const std::string& option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration || duration->count() == 0) {
    throw UsageError(option + " " + text +
                     ": expected seconds, or a duration such as 250ms, 90s or 10m");
  }
  return *duration;
}

std::string read_kernel(const std::string& file) {
  if (fs::is_directory(file)) {
    throw UsageError(file + " is a directory; expected a kernel file");
  }
  if (!fs::exists(file)) {
    throw UsageError(file + ": no such file");
  }
  std::error_code not_regular; // a pipe has no size; reading it is capped as well
  const auto bytes = fs::file_size(file, not_regular);
  if (!not_regular && bytes > tasks::kMaxKernelFileBytes) {
    throw UsageError(file + " has " + std::to_string(bytes) + " bytes; a kernel file has at most " +
                     std::to_string(tasks::kMaxKernelFileBytes));
  }
  return read_file(file, tasks::kMaxKernelFileBytes);
}

evaluators::EvaluationOptions resolved_options(const EvalCommand& command) {
  evaluators::EvaluationOptions options = command.options;
  options.promotion = !command.no_promotion;
  options.check = !command.no_check;
  options.timing = !command.no_timing;
  options.time_budget = duration_option("--time-budget", command.time_budget);
  options.run_timeout = duration_option("--timeout", command.timeout);
  if (!command.isolation.empty()) {
    options.require_isolation = evaluators::isolation_from_string(command.isolation);
  }
  check_isolation(options);
  options.device = evaluators::select_device(options.device).kind;
  return options;
}

void print(const std::vector<tasks::Evaluation>& evaluations, bool as_json) {
  const tasks::Evaluation& counts = evaluations.front();
  if (as_json) {
    std::cout << tasks::evaluation_json(counts).dump(2) << '\n';
    return;
  }
  std::cout << eval_text(counts);
  for (std::size_t i = 1; i < evaluations.size(); ++i) {
    std::cout << "variant " << parameters_text(evaluations[i].parameters) << ": "
              << to_string(evaluations[i].verdict) << '\n';
  }
}

ExitCode eval(const EvalCommand& command) {
  Interrupt interrupt; // before any other thread
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), command.task);
  const std::string text = read_kernel(command.file);
  EvaluatorJudge judge(task, resolved_options(command));
  std::vector<tasks::Evaluation> evaluations;
  {
    const OnInterrupt stop(interrupt, [&] { judge.cancel(); });
    if (!interrupt.interrupted()) {
      evaluations = judge.judge(text, command.file, command.max_variants);
    }
  }
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  print(evaluations, command.json);
  switch (evaluations.front().verdict) {
  case tasks::Verdict::Correct:
    return ExitCode::Done;
  case tasks::Verdict::Infrastructure:
  case tasks::Verdict::NotJudged:
    return ExitCode::Failure;
  default:
    return ExitCode::NotCorrect;
  }
}

void add_options(CLI::App& sub, EvalCommand& command) {
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  sub.add_option("FILE", command.file,
                 "kernel file: device code with its launch plan, at most 1 MiB")
      ->required();
  sub.add_option("--device", command.options.device, "best, cpu, cuda or hip")
      ->capture_default_str();
  sub.add_option("--seed", command.options.seed, "inputs derive from it")->capture_default_str();
  sub.add_option("--tiny-seeds", command.options.tiny_seeds, "sets of inputs for each tiny shape")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  sub.add_option("--max-variants", command.max_variants,
                 "choices of parameters to try; 1: the default choice only")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  sub.add_flag("--no-promotion", command.no_promotion, "skip the hidden shapes");
  sub.add_flag("--no-check", command.no_check, "skip the run that looks for races and the like");
  sub.add_flag("--no-timing", command.no_timing, "judge only; no times, no speedup");
  sub.add_option("--time-budget", command.time_budget, "sampling time per shape and kernel")
      ->capture_default_str();
  sub.add_option("--timeout", command.timeout, "wall-clock limit of one stage")
      ->capture_default_str();
  sub.add_option("--require-isolation", command.isolation,
                 "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) where the sandbox "
                 "would be weaker")
      ->check(CLI::IsMember({"rlimits", "landlock+seccomp", "bubblewrap"}));
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.evaluation, version 1");
}

} // namespace

void add_eval(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* sub =
      app.add_subcommand("eval", "Judge one kernel file: compile, verify, time, verify unseen");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return eval(*command); }; });
}

} // namespace winnow::harness
