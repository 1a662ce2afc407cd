#include "harness/commands/commands.h"
#include "harness/commands/kernels/kernel_pair.h"
#include "harness/commands/kernels/kernel_text.h"

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
                 "first choice");
  CLI::Option* against = sub.add_option("--against", command.against,
                                        "another kernel file, or @ID; Winnow measures both kernels "
                                        "and times them launch beside launch");
  sub.add_option("--against-param", command.against_parameters,
                 "NAME=VALUE, a parameter of the other kernel's plan")
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
      ->check(CLI::IsMember({"fast", "full", "off"}));
  sub.add_flag("--no-energy", command.no_energy,
               "do not measure the energy of a run; the measurement takes a second per shape");
}

} // namespace

void add_profile(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "profile",
                  "Measure a correct kernel: times, speed of light, limiter, counters, occupancy, "
                  "energy (exit code 10: the kernel is not correct)",
                  profile);
  add_options(sub, command);
}

namespace {

ExitCode race(const PairCommand& command) {
  const auto adapt = [](evaluators::EvaluationOptions& options) { options.stop_when_lost = true; };
  return judge_pair(
      command, {race_budget("cpu"), race_budget("gpu"), adapt, race_json, race_text, "race", true});
}

void add_options(CLI::App& sub, PairCommand& command) {
  add_pair_options(sub, command, "1s on the cpu, 300ms on a GPU; a decided race ends earlier",
                   "schema winnow.race, version 2; times in ns");
  sub.add_option("A", command.file,
                 std::string("a kernel file") + kOrCandidate + "; the verdict is about A")
      ->required();
  sub.add_option("B", command.against,
                 std::string("the kernel file that A races against") + kOrCandidate)
      ->required();
  sub.add_option("--param-a", command.parameters,
                 "NAME=VALUE, a parameter of A's plan; default: the candidate's, or the plan's "
                 "first choice");
  sub.add_option("--param-b", command.against_parameters,
                 "NAME=VALUE, a parameter of B's plan; default: as for A");
}

} // namespace

void add_race(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "race",
      "Say which of two correct kernels is faster, by how much and with which certainty "
      "(exit code 0: the kernels raced, 10: one of them is not correct)",
      race);
  add_options(sub, command);
}

} // namespace winnow::harness
