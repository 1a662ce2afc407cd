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
  sub.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
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
  command.judging.timeout = "60s";
  add_judging_options(sub, command.judging, "best, cpu, cuda, hip, or one device such as cuda:0");
  add_time_budget(sub, command.judging.time_budget,
                  "1s on the cpu, 300ms on a GPU; a decided race ends earlier");
  sub.add_option("--max-samples", command.judging.evaluation.max_samples,
                 "timed launches of each kernel per shape, at most; a block has two launches of "
                 "each kernel")
      ->check(CLI::Range(6, 100'000))
      ->capture_default_str();
  sub.add_option(
      "--store", command.store,
      "SQLite file with the candidates, which also keeps what is measured: the kernels become "
      "candidates of the run `person`, as with `winnow eval --store`, unless they are "
      "candidates already; `show` and `export html` show the measurements, and no board "
      "rests on those of candidates that were judged before (default: candidates come "
      "from $WINNOW_STORE, else the newest *.db; nothing is kept)");
  sub.add_flag("--json", command.json,
               "one JSON document, schema winnow.race, version 2; times in ns");
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
