#include "harness/commands/commands.h"
#include "harness/commands/kernels/kernel_pair.h"
#include "harness/commands/kernels/kernel_text.h"

#include <memory>

#include <CLI/CLI.hpp>

namespace winnow::harness {
namespace {

constexpr std::chrono::milliseconds kCpuBudget{500};
constexpr std::chrono::milliseconds kGpuBudget{200};

struct ProfileCommand : PairCommand {
  std::string counters = "full";
  bool no_energy = false;
};

ExitCode profile(const ProfileCommand& command) {
  const auto adapt = [&](evaluators::EvaluationOptions& options) {
    options.stop_when_lost = false;
    options.warm = true;
    options.energy = !command.no_energy;
    options.counters = evaluators::counting_from_string(command.counters).value();
  };
  return judge_pair(command,
                    {kCpuBudget, kGpuBudget, adapt, profile_json, profile_text, "profile"});
}

void add_comparison(CLI::App& sub, ProfileCommand& command) {
  sub.add_option("--param", command.parameters,
                 "NAME=VALUE, a parameter of FILE's plan; default: the candidate's, or the plan's "
                 "first choice")
      ->allow_extra_args(false);
  CLI::Option* against = sub.add_option("--against", command.against,
                                        "another kernel file, or @ID; Winnow measures both kernels "
                                        "and times them launch beside launch");
  sub.add_option("--against-param", command.against_parameters,
                 "NAME=VALUE, a parameter of the other kernel's plan")
      ->allow_extra_args(false)
      ->needs(against);
}

void add_options(CLI::App& sub, ProfileCommand& command) {
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  sub.add_option("FILE", command.file, std::string("the kernel file, at most 1 MiB") + kOrCandidate)
      ->required();
  sub.add_option(
      "--store", command.store,
      "SQLite file with the candidates, which also keeps what is measured: the kernels become "
      "candidates of the run `person`, as with `winnow eval --store`, unless they are "
      "candidates already; `show` and `export html` show the measurements, and no board "
      "rests on those of candidates that were judged before (default: candidates come "
      "from $WINNOW_STORE, else the newest *.db; nothing is kept)");
  add_comparison(sub, command);
  command.judging.timeout = "60s";
  add_judging_options(sub, command.judging, "best, cpu, cuda, hip, or one device such as cuda:0");
  sub.add_option("--counters", command.counters,
                 "fast (one pass), full (all counters, several passes) or off (times only: no "
                 "launch facts, limiter, speed of light or energy)")
      ->check(CLI::IsMember({"fast", "full", "off"}))
      ->capture_default_str();
  sub.add_flag("--no-energy", command.no_energy,
               "do not measure the energy of a run; the measurement takes a second per shape");
  add_time_budget(sub, command.judging.time_budget, "500ms on the cpu, 200ms on a GPU");
  sub.add_option("--max-samples", command.judging.evaluation.max_samples,
                 "timed launches of each kernel per shape, at most")
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
                 "energy (exit code 10: the kernel is not correct)");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return profile(*command); }; });
}

} // namespace winnow::harness
