#include "base/error.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/interrupt.h"
#include "harness/report/activity.h"
#include "harness/report/profile_report.h"

#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::chrono::milliseconds kCpuBudget{500};
constexpr std::chrono::milliseconds kGpuBudget{200};

struct ProfileCommand {
  std::string task;
  std::string file, against;
  std::vector<std::string> parameters, against_parameters;
  std::string counters = "full";
  JudgingOptions judging;
  bool no_energy = false;
  bool json = false;
};

evaluators::EvaluationOptions profile_options(const ProfileCommand& command,
                                              const std::string& device_kind) {
  evaluators::EvaluationOptions options = resolved(command.judging);
  options.stop_when_lost = false;
  options.warm = true;
  options.reuse = false; // also time and count kernels with equal machine code
  options.energy = !command.no_energy;
  options.counters = evaluators::counting_from_string(command.counters).value();
  if (options.time_budget.count() == 0) {
    options.time_budget = device_kind == "cpu" ? kCpuBudget : kGpuBudget;
  }
  return options;
}

ProfiledKernel judged(const NamedKernel& kernel, KernelSession& session) {
  return {kernel.file, kernel.digest, session.judge(kernel)};
}

/// Judges the other kernel first: if it is not correct, a comparison is impossible.
ProfileReport measure(const std::string& task, const NamedKernel& kernel,
                      const std::optional<NamedKernel>& against, KernelSession& session) {
  ProfileReport report{task, {kernel.file, kernel.digest, {}}, std::nullopt};
  if (against) {
    report.against = judged(*against, session);
    if (report.against->evaluation.verdict != tasks::Verdict::Correct) {
      return report;
    }
    session.set_incumbent(*against);
  }
  report.kernel = judged(kernel, session);
  return report;
}

ExitCode exit_code_of(const ProfileReport& report) {
  if (report.against) {
    if (const auto failed = failing_exit_code(report.against->evaluation)) {
      return *failed;
    }
  }
  return failing_exit_code(report.kernel.evaluation).value_or(ExitCode::Done);
}

ExitCode profile(const ProfileCommand& command) {
  Interrupt interrupt; // before any other thread starts
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), command.task);
  const NamedKernel kernel = load_kernel(command.file, command.parameters);
  std::optional<NamedKernel> against;
  if (!command.against.empty()) {
    against = load_kernel(command.against, command.against_parameters);
  }
  const evaluators::DeviceReport device =
      evaluators::select_device(command.judging.evaluation.device);
  std::optional<Activity> activity(std::in_place);
  evaluators::EvaluationOptions options = profile_options(command, device.kind);
  options.waiting = activity->listener();
  KernelSession session(task, device, options, interrupt);
  const ProfileReport report = measure(task.name, kernel, against, session);
  activity.reset();
  if (interrupt.interrupted()) {
    std::cerr << "interrupted\n";
    return ExitCode::Interrupted;
  }
  std::cout << (command.json ? profile_json(report).dump(2) + "\n" : profile_text(report));
  return exit_code_of(report);
}

void add_comparison(CLI::App& sub, ProfileCommand& command) {
  sub.add_option("--param", command.parameters,
                 "NAME=VALUE, a parameter of FILE's plan; default: the plan's first choice")
      ->allow_extra_args(false);
  CLI::Option* against = sub.add_option(
      "--against", command.against,
      "another kernel file: measured as well, and timed launch beside launch with FILE");
  sub.add_option("--against-param", command.against_parameters,
                 "NAME=VALUE, a parameter of its plan")
      ->allow_extra_args(false)
      ->needs(against);
}

void add_options(CLI::App& sub, ProfileCommand& command) {
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  sub.add_option("FILE", command.file, "the kernel file, at most 1 MiB")->required();
  add_comparison(sub, command);
  command.judging.timeout = "60s";
  add_judging_options(sub, command.judging, "best, cpu, cuda or hip, or one of several: cuda:0");
  sub.add_option("--counters", command.counters,
                 "fast (one pass), full (all counters, several passes) or off: times only, without "
                 "launch facts, limiter, speed of light and energy")
      ->check(CLI::IsMember({"fast", "full", "off"}))
      ->capture_default_str();
  sub.add_flag("--no-energy", command.no_energy,
               "leave out the energy of a run, which takes a second a shape");
  add_time_budget(sub, command.judging.time_budget, "500ms on the cpu, 200ms on a GPU");
  sub.add_option("--max-samples", command.judging.evaluation.max_samples,
                 "launches of each kernel per shape that are timed at most")
      ->check(CLI::Range(6, 100'000))
      ->capture_default_str();
  sub.add_flag("--json", command.json,
               "one JSON document, schema winnow.profile, version 2; times in ns, energy in J");
}

} // namespace

void add_profile(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<ProfileCommand>();
  CLI::App* sub = app.add_subcommand(
      "profile", "Measure a correct kernel: times, speed of light, limiter, counters, occupancy, "
                 "energy (exit code 10: it is not correct)");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return profile(*command); }; });
}

} // namespace winnow::harness
