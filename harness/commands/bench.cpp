#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/run/session.h"
#include "harness/suite/suite_plan.h"
#include "harness/suite/suite_scores.h"
#include "search/search.h"
#include "tasks/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct BenchCommand {
  std::string suite;
  std::vector<std::string> models;     ///< one run each; empty: that of the config
  std::vector<std::string> strategies; ///< one run of each model each; empty: that of the config
  std::optional<std::int64_t> calls;   ///< nullopt: as configured
  bool resume = false;
  bool problems = false;
  bool alternatives = false;
  bool json = false;
  NewRunOptions options;
};

using Suite = std::vector<tasks::SuiteTask>;

/// The keys that this command sets. The user's own options come later, so they win.
std::vector<ConfigOverride> bench_keys(const BenchCommand& command, const Suite& suite) {
  nlohmann::json folders = nlohmann::json::array();
  for (const tasks::SuiteTask& one : suite) {
    folders.push_back(one.task.folder.string());
  }
  std::vector<ConfigOverride> keys{{"run.tasks", folders.dump(), "SUITE"}};
  if (command.calls) {
    keys.push_back({"run.proposals", std::to_string(*command.calls), "--calls"});
  }
  return keys;
}

/// A run of each model with each strategy. Throws UsageError.
std::vector<RunConfig> planned_runs(const BenchCommand& command, const Suite& suite) {
  std::vector<ConfigOverride> keys = bench_keys(command, suite);
  const std::vector<ConfigOverride>& given = command.options.shared.keys;
  keys.insert(keys.end(), given.begin(), given.end());
  const auto or_configured = [](const std::vector<std::string>& names) {
    return names.empty() ? std::vector<std::string>{""} : names;
  };
  std::vector<RunConfig> runs;
  for (const std::string& model : or_configured(command.models)) {
    for (const std::string& strategy : or_configured(command.strategies)) {
      NewRunOptions options = command.options;
      options.shared.model = model;
      options.shared.keys = keys;
      if (!strategy.empty()) {
        options.shared.keys.push_back({"run.strategy", strategy, "--strategy", true});
      }
      const RunConfig& run = runs.emplace_back(configured(options));
      if (!strategy.empty() && run.strategy != strategy) {
        throw UsageError(
            fmt::format("--strategy {} contradicts --set run.strategy={}", strategy, run.strategy),
            "leave out --set run.strategy");
      }
    }
  }
  check_distinct_runs(runs);
  return runs;
}

std::string bench_row_name(const RunConfig& run) {
  return model_names(run) + ", " + run.strategy;
}

/// The run of the store that began this search; nullopt: there is none.
std::optional<store::RunRow> begun_in_store(const RunConfig& run, const Suite& suite) {
  std::error_code ignored;
  return std::filesystem::exists(run.store, ignored)
             ? begun_run(store::RunStore(run.store, store::RunStore::Mode::ReadOnly), run, suite)
             : std::nullopt;
}

/// The settings of a resumed run that may be new.
std::vector<ConfigOverride> new_limits(const RunOptions& options) {
  std::vector<ConfigOverride> limits;
  for (const ConfigOverride& item : overrides_of(options)) {
    if (item.key.starts_with("limits.") || item.key.starts_with("broker.") ||
        item.key == "run.parallel") {
      limits.push_back(item);
    }
  }
  return limits;
}

/// Begins the run, or goes on with it, and adds its name to `names`.
ExitCode drive_run(const BenchCommand& command, const Suite& suite, const RunConfig& run,
                   std::vector<std::string>& names) {
  const RunReport keep_name = [&](const store::RunStore& /*store*/, const std::string& name) {
    names.push_back(name);
    return std::string(); // one table of all runs comes last
  };
  const auto begun = begun_in_store(run, suite);
  if (begun && begun->status == "finished" && command.resume) {
    std::cerr << fmt::format("run '{}' ({}) is finished\n", begun->name, bench_row_name(run));
    names.push_back(begun->name);
    return ExitCode::Done;
  }
  if (begun && command.resume) {
    return resume_run(run.store, begun->name, new_limits(command.options.shared), {false, run},
                      nullptr, keep_name);
  }
  if (begun && begun->status != "finished") {
    std::cerr << fmt::format("note: run '{}' has begun this search ({}) and is not finished; "
                             "--resume would go on with that run\n",
                             begun->name, bench_row_name(run));
  }
  return start_run(run, command.options.names_run(), nullptr, keep_name);
}

/// Drives the runs one after another. Returns the code of the first run that was not done.
ExitCode drive_runs(const BenchCommand& command, const Suite& suite,
                    const std::vector<RunConfig>& runs, std::vector<std::string>& names) {
  if (command.alternatives) {
    store_alternatives(suite, runs.front());
  }
  ExitCode code = ExitCode::Done;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ExitCode one = drive_run(command, suite, runs[i], names);
    code = code == ExitCode::Done ? one : code;
    if (one == ExitCode::Interrupted) {
      std::cerr << fmt::format("{} of {} runs of this bench have ended; to go on, repeat the "
                               "command with --resume\n",
                               i, runs.size());
      break;
    }
  }
  return code;
}

/// Runs of the suite that an earlier bench with other models or strategies has left unfinished.
void tell_other_runs(const store::RunStore& store, const std::string& path, const Suite& suite,
                     const std::vector<std::string>& names) {
  for (const SuiteRun& run : suite_runs(store, suite, {})) {
    if (run.is_search && run.status != "finished" &&
        std::find(names.begin(), names.end(), run.name) == names.end()) {
      std::cerr << fmt::format("run '{}' ({}, {}) of this suite is not finished and is no part of "
                               "this bench; to go on: winnow resume {} --store {}\n",
                               run.name, run.calls.front().model, run.strategy,
                               shell_word(run.name), shell_word(path));
    }
  }
}

ExitCode bench(const BenchCommand& command) {
  const Suite suite = tasks::load_suite(tasks::find_catalogue(), command.suite);
  const std::vector<RunConfig> runs = planned_runs(command, suite);
  if (runs.size() > 1 && command.options.names_run()) {
    throw UsageError("--name names one run, but each --model is a run of its own, with each "
                     "--strategy",
                     "leave out --name");
  }
  for (const RunConfig& run : runs) {
    if (const std::string missing = missing_replies(run, suite); !missing.empty()) {
      std::cerr << "note: " << missing << '\n';
    }
  }
  tell_own_templates(runs.front());
  std::vector<std::string> names;
  const ExitCode code = drive_runs(command, suite, runs, names);
  const std::string& path = runs.front().store;
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  if (command.resume) {
    tell_other_runs(store, path, suite, names);
  }
  const nlohmann::json document =
      suite_json(command.suite, suite,
                 names.empty() ? std::vector<SuiteRun>{} : suite_runs(store, suite, names));
  std::cout << (command.json ? json_document(document) : suite_text(document, command.problems));
  std::cout.flush();
  std::cerr << fmt::format("the same tables again: winnow leaderboard --suite {} --store {}\n",
                           shell_word(command.suite), shell_word(path));
  return code;
}

} // namespace

void add_bench(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "bench",
                  "Ask models for a kernel of each task of a suite, and compare the models and the "
                  "strategies: compiled, correct, fast_p, pass@k, speedup, cost (docs/bench.md)",
                  bench);
  command.options.config = "bench";
  sub.add_option(
         "SUITE", command.suite,
         "folder with tasks, such as `winnow tasks import` writes; a category of the "
         "catalogue; smoke, llm, science, hpc, hard, all; or a TOML file with a list `tasks`")
      ->required();
  sub.add_option("--config", command.options.config,
                 "TOML file, or the name of a config that comes with Winnow");
  sub.add_option("--store", command.options.store, "SQLite file for the results [run.store]");
  sub.add_option("--calls", command.calls,
                 "model calls for each task (default: run.proposals of the config)");
  sub.add_flag("--alternatives", command.alternatives,
               "first time what PyTorch's users would run otherwise (winnow baseline torch), for "
               "scores against it");
  sub.add_flag("--resume", command.resume,
               "go on with the runs of this suite, these models, strategies and settings that the "
               "store has; only those that it lacks are new");
  sub.add_flag("--problems", command.problems, "a line for each problem, too");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.suite, version 1");
  add_new_run_options(sub, command.options);
  sub.remove_option(sub.get_option("--task"));
  sub.remove_option(sub.get_option("--model"));
  sub.add_option("--model", command.models,
                 std::string(kModelHelp) +
                     "; may be repeated: each model gets a run of its own, and "
                     "the table compares them")
      ->type_name("PROVIDER/MODEL");
  sub.add_option("--strategy", command.strategies,
                 join(search::strategy_names(), ", ") +
                     "; may be repeated: each model gets a run of its own with each strategy "
                     "[run.strategy]")
      ->type_name("STRATEGY");
}

} // namespace winnow::harness
