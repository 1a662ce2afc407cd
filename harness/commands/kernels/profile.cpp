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
  add_pair_options(sub, command, "500ms on the cpu, 200ms on a GPU",
                   "schema winnow.profile, version 2; times in ns, energy in J");
  sub.add_option("FILE", command.file, std::string("the kernel file, at most 1 MiB") + kOrCandidate)
      ->required();
  add_comparison(sub, command);
  sub.add_option("--counters", command.counters,
                 "fast (one pass), full (all counters, several passes) or off (times only: no "
                 "launch facts, limiter, speed of light or energy)")
      ->check(CLI::IsMember({"fast", "full", "off"}))
      ->capture_default_str();
  sub.add_flag("--no-energy", command.no_energy,
               "do not measure the energy of a run; the measurement takes a second per shape");
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
