#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/interrupt.h"
#include "harness/report/activity.h"
#include "harness/report/race_report.h"

#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::chrono::milliseconds kCpuRaceBudget{1000};
constexpr std::chrono::milliseconds kGpuRaceBudget{300};

struct RaceCommand {
  std::string task;
  std::string file_a, file_b;
  std::vector<std::string> parameters_a, parameters_b;
  JudgingOptions judging;
  bool json = false;
};

evaluators::EvaluationOptions race_options(const RaceCommand& command,
                                           const std::string& device_kind) {
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.stop_when_lost = true;
  options.reuse = false; // also race kernels with equal machine code
  if (options.time_budget.count() == 0) {
    options.time_budget = device_kind == "cpu" ? kCpuRaceBudget : kGpuRaceBudget;
  }
  return options;
}

ExitCode exit_code_of(const RaceReport& report) {
  for (const Racer* racer : {&report.b, &report.a}) {
    if (const auto failed = failing_exit_code(racer->evaluation)) {
      return *failed;
    }
  }
  return report.a.evaluation.race ? ExitCode::Done : ExitCode::Failure;
}

ExitCode race(const RaceCommand& command) {
  Interrupt interrupt; // before any other thread starts
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), command.task);
  const NamedKernel a = load_kernel(command.file_a, command.parameters_a);
  const NamedKernel b = load_kernel(command.file_b, command.parameters_b);
  const evaluators::DeviceReport device =
      evaluators::select_device(command.judging.evaluation.device);
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = race_options(command, device.kind);
  options.waiting = activity->listener();
  KernelSession session(task, device, options, interrupt);
  RaceReport report{task.name, {a.file, a.digest, {}}, {b.file, b.digest, session.judge(b)}};
  if (report.b.evaluation.verdict == tasks::Verdict::Correct && !interrupt.interrupted()) {
    session.set_incumbent(b);
    report.a.evaluation = session.judge(a);
  }
  activity.reset();
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  std::cout << (command.json ? race_json(report).dump(2) + "\n" : race_text(report));
  return exit_code_of(report);
}

void add_options(CLI::App& sub, RaceCommand& command) {
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  sub.add_option("A", command.file_a, "a kernel file; the verdict is about it")->required();
  sub.add_option("B", command.file_b, "the kernel file that it races against")->required();
  sub.add_option("--param-a", command.parameters_a,
                 "NAME=VALUE, a parameter of A's plan; default: the plan's first choice")
      ->allow_extra_args(false);
  sub.add_option("--param-b", command.parameters_b, "the same for B")->allow_extra_args(false);
  command.judging.timeout = "60s";
  add_judging_options(sub, command.judging, "best, cpu, cuda or hip, or one of several: cuda:0");
  add_time_budget(sub, command.judging.time_budget,
                  "1s on the cpu, 300ms on a GPU; a race that is decided ends before");
  sub.add_option(
         "--max-samples", command.judging.evaluation.max_samples,
         "launches of each kernel per shape that are timed at most; two of both are a block")
      ->check(CLI::Range(6, 100'000))
      ->capture_default_str();
  sub.add_flag("--json", command.json,
               "one JSON document, schema winnow.race, version 2; times in ns");
}

} // namespace

void add_race(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<RaceCommand>();
  CLI::App* sub = app.add_subcommand(
      "race", "Say which of two correct kernels is faster, by how much, how sure (exit code 0: "
              "they raced, 10: one of them is not correct)");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return race(*command); }; });
}

} // namespace winnow::harness
