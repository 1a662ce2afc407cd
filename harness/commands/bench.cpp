#include "base/error.h"
#include "base/json_dump.h"
#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/run/session.h"
#include "harness/suite/compiled_suite.h"
#include "harness/suite/suite_scores.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct BenchCommand {
  std::string suite;
  std::vector<std::string> models; ///< one run each; empty: that of the config
  std::int64_t calls = 0;          ///< 0: as configured
  bool problems = false;
  bool compiled = false;
  bool json = false;
  NewRunOptions options;
};

/// The keys that this command sets. The user's own options come later, so they win.
std::vector<ConfigOverride> bench_keys(const BenchCommand& command,
                                       const std::vector<tasks::SuiteTask>& suite) {
  nlohmann::json folders = nlohmann::json::array();
  for (const tasks::SuiteTask& one : suite) {
    folders.push_back(one.task.folder.string());
  }
  std::vector<ConfigOverride> keys{{"run.tasks", folders.dump(), "SUITE"}};
  if (command.calls > 0) {
    keys.push_back({"run.proposals", std::to_string(command.calls), "--calls"});
  }
  return keys;
}

/// A run of each model. `document`: the scores of all runs. Returns the code of the first run that
/// was not done.
ExitCode ask_models(const BenchCommand& command, const std::vector<tasks::SuiteTask>& suite,
                    nlohmann::json& document) {
  NewRunOptions options = command.options;
  std::vector<std::string> runs;
  const RunReport report = [&](const store::RunStore& store, const std::string& run) {
    runs.push_back(run);
    document = suite_json(command.suite, suite, suite_runs(store, suite, runs));
    return std::string(); // one table of all runs comes last
  };
  ExitCode code = ExitCode::Done;
  for (std::size_t i = 0; i < std::max<std::size_t>(command.models.size(), 1); ++i) {
    options.shared.model = command.models.empty() ? "" : command.models[i];
    const RunConfig config = configured(options);
    if (command.compiled && i == 0) {
      store_compiled_times(suite, config);
    }
    const ExitCode one = start_run(config, options.names_run(), nullptr, report);
    code = code == ExitCode::Done ? one : code;
    if (one == ExitCode::Interrupted) {
      break;
    }
  }
  return code;
}

ExitCode bench(BenchCommand command) {
  if (command.models.size() > 1 && command.options.names_run()) {
    throw UsageError("--name names one run, but each --model is a run of its own",
                     "leave out --name");
  }
  const auto suite = tasks::load_suite(tasks::find_catalogue(), command.suite);
  std::vector<ConfigOverride>& keys = command.options.shared.keys;
  const std::vector<ConfigOverride> own = bench_keys(command, suite);
  keys.insert(keys.begin(), own.begin(), own.end());
  nlohmann::json document;
  const ExitCode code = ask_models(command, suite, document);
  std::cout << (command.json ? json_document(document) : suite_text(document, command.problems));
  return code;
}

} // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<BenchCommand>();
  command->options.config = "bench";
  CLI::App* sub = app.add_subcommand(
      "bench", "Ask a model for a kernel of each task of a suite, and print the suite's scores: "
               "compiled, correct, fast_p, pass@k, speedup, cost (docs/bench.md)");
  sub->add_option("SUITE", command->suite,
                  "folder with tasks, such as `winnow tasks import` writes; a category of the "
                  "catalogue; smoke or all; or a TOML file with a list `tasks`")
      ->required();
  sub->add_option("--config", command->options.config,
                  "TOML file, or the name of a config that comes with Winnow")
      ->capture_default_str();
  sub->add_option("--store", command->options.store, "SQLite file for the results [run.store]");
  sub->add_option("--calls", command->calls,
                  "model calls for each task (default: run.proposals of the config)")
      ->check(CLI::PositiveNumber);
  sub->add_flag("--compiled", command->compiled,
                "first time the tasks' PyTorch modules with torch.compile, for scores against it");
  sub->add_flag("--problems", command->problems, "a line for each problem, too");
  sub->add_flag("--json", command->json, "one JSON document, schema winnow.suite, version 1");
  add_new_run_options(*sub, command->options);
  sub->remove_option(sub->get_option("--task"));
  sub->remove_option(sub->get_option("--model"));
  sub->add_option("--model", command->models,
                  std::string(kModelHelp) +
                      "; may be repeated: each model gets a run of its own, and "
                      "the table compares them")
      ->type_name("PROVIDER/MODEL")
      ->allow_extra_args(false);
  sub->callback([command, &chosen] { chosen = [command] { return bench(*command); }; });
}

} // namespace winnow::harness
