#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/session.h"

#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct RunCommand {
  std::string config;
  std::string store;
  std::string name;
  std::string device;
  std::string isolation;
  std::string precheck;
  std::vector<std::string> tasks;
  RunOptions shared;
};

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "\"" : ", \"") + item + "\"";
  }
  return "[" + text + "]";
}

ExitCode run(const RunCommand& command) {
  std::vector<ConfigOverride> overrides;
  add_override(overrides, "run.store", command.store);
  add_override(overrides, "run.name", command.name);
  add_override(overrides, "run.device", command.device);
  add_override(overrides, "evaluation.require_isolation", command.isolation);
  if (!command.precheck.empty()) {
    overrides.push_back({"evaluation.precheck", nlohmann::json(command.precheck).dump()});
  }
  if (!command.tasks.empty()) {
    overrides.push_back({"run.tasks", quoted_list(command.tasks)});
  }
  const auto more = overrides_of(command.shared);
  overrides.insert(overrides.end(), more.begin(), more.end());
  return start_run(load_config(find_config(command.config), overrides), !command.name.empty());
}

} // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand(
      "run", "Search for faster kernels: ask, compile, judge, time, record, rank");
  sub->add_option("CONFIG", command->config,
                  "TOML file (default: configs/quickstart.toml, which needs no GPU and no key)");
  sub->add_option("--store", command->store, "SQLite file for the results [run.store]");
  sub->add_option("--name", command->name,
                  "name of the run [run.name]; must be new in the store (default: the config's, "
                  "with -2, -3, ... if taken)");
  sub->add_option("--task", command->tasks,
                  "task to work on, may be repeated [run.tasks] (default: the config's)")
      ->allow_extra_args(false);
  sub->add_option("--device", command->device, "best, cpu, cuda or hip [run.device]");
  sub->add_option("--require-isolation", command->isolation,
                  "rlimits, landlock+seccomp or bubblewrap: fail (exit code 4) where the sandbox "
                  "would be weaker [evaluation.require_isolation]");
  sub->add_option("--precheck-cmd", command->precheck,
                  "a shell command that gets each kernel file on stdin and prints a JSON object "
                  "with should_filter; what it refuses is not run, and nothing is when it fails "
                  "[evaluation.precheck]");
  add_run_options(*sub, command->shared);
  sub->callback([command, &chosen] { chosen = [command] { return run(*command); }; });
}

} // namespace winnow::harness
