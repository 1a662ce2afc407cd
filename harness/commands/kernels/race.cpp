#include "harness/commands/commands.h"
#include "harness/commands/kernels/kernel_pair.h"
#include "harness/commands/kernels/kernel_text.h"

#include <memory>

#include <CLI/CLI.hpp>

namespace winnow::harness {
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
                 "first choice")
      ->allow_extra_args(false);
  sub.add_option("--param-b", command.against_parameters,
                 "NAME=VALUE, a parameter of B's plan; default: as for A")
      ->allow_extra_args(false);
}

} // namespace

void add_race(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<PairCommand>();
  CLI::App* sub = app.add_subcommand(
      "race", "Say which of two correct kernels is faster, by how much and with which certainty "
              "(exit code 0: the kernels raced, 10: one of them is not correct)");
  add_options(*sub, *command);
  sub->callback([command, &chosen] { chosen = [command] { return race(*command); }; });
}

} // namespace winnow::harness
