#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "harness/commands/commands.h"
#include "harness/commands/lab_records.h"
#include "harness/config/config.h"
#include "harness/report/lab_report.h"
#include "harness/run/state/task_state.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLandscapes = "configs/landscapes";

/// What `compare` and `ablate` share.
struct ComparisonCommand {
  ComparisonCommand() { plan.settings = search_settings(RunConfig(), tasks::Task()); }

  std::vector<std::string> strategies;
  std::string against = RunConfig().strategy;
  std::vector<std::string> landscapes;
  lab::ComparisonPlan plan;
  bool all = false;
  bool json = false;
};

fs::path landscape_file(const std::string& given) {
  if (is_file(given)) {
    return given;
  }
  const std::string file = std::string(kLandscapes) + "/" + given + ".toml";
  if (const auto found = find_shipped(file)) {
    return *found;
  }
  throw UsageError(given + ": no such landscape; looked for " + file + " " + shipped_places(),
                   "name a landscape file, or one of " + std::string(kLandscapes));
}

/// Those that the user names, or all that come with Winnow.
std::vector<lab::Landscape> landscapes_of(const ComparisonCommand& command) {
  std::vector<fs::path> files;
  for (const std::string& given : command.landscapes) {
    files.push_back(landscape_file(given));
  }
  if (const auto folder = find_shipped(kLandscapes); files.empty() && folder) {
    for (const auto& entry : fs::directory_iterator(*folder)) {
      if (entry.path().extension() == ".toml") {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
  }
  if (files.empty()) {
    throw UsageError(std::string("no landscapes; looked for ") + kLandscapes + " " +
                         shipped_places(),
                     "name a file with --landscape");
  }
  std::vector<lab::Landscape> landscapes;
  landscapes.reserve(files.size());
  for (const fs::path& file : files) {
    landscapes.push_back(lab::read_landscape(file));
  }
  return landscapes;
}

ExitCode print_comparison(const ComparisonCommand& command,
                          const std::vector<lab::Variant>& variants, std::size_t reference,
                          const std::string& ablated) {
  std::vector<LabResult> results;
  for (lab::Landscape& landscape : landscapes_of(command)) {
    const lab::Comparison comparison = compare(landscape, variants, reference, command.plan);
    results.push_back({std::move(landscape), comparison});
  }
  std::map<std::string, std::vector<std::string>> roles;
  for (const search::Preset& preset : search::presets()) {
    roles[preset.name] = preset.roles;
  }
  const nlohmann::json document = lab_comparison_json(results, ablated, roles);
  std::cout << (command.json ? json_document(document) : lab_comparison_text(document));
  return ExitCode::Done;
}

ExitCode compare_strategies(const ComparisonCommand& command) {
  if (command.all && !command.strategies.empty()) {
    throw UsageError("--all compares every strategy, but some are named",
                     "leave out --all or the names");
  }
  std::vector<std::string> names = command.strategies;
  if (names.empty()) {
    names = search::strategy_names();
  }
  if (std::find(names.begin(), names.end(), command.against) == names.end()) {
    names.insert(names.begin(), command.against);
  }
  std::vector<lab::Variant> variants;
  variants.reserve(names.size());
  for (const std::string& name : names) {
    variants.push_back({name, search::preset(name).policy});
  }
  const auto reference = std::find(names.begin(), names.end(), command.against) - names.begin();
  return print_comparison(command, variants, static_cast<std::size_t>(reference), "");
}

ExitCode ablate(const ComparisonCommand& command) {
  const std::string name =
      command.strategies.empty() ? command.against : command.strategies.front();
  const search::Preset& preset = search::preset(name);
  std::vector<lab::Variant> variants{{name, preset.policy}};
  for (const search::Ablation& ablation : search::ablations(preset.policy)) {
    variants.push_back({"without " + ablation.without, ablation.policy});
  }
  if (variants.size() == 1) {
    throw UsageError("the strategy '" + name + "' has no mechanism that can be switched off",
                     "name another strategy");
  }
  return print_comparison(command, variants, 0, name);
}

struct FitCommand {
  std::vector<std::string> files;
  std::string run, base = "published", name, output;
  bool json = false;
};

bool is_toml(const std::string& file) {
  return fs::path(file).extension() == ".toml";
}

/// Of one file with published statistics, or of stores.
lab::Fit fitted(const FitCommand& command) {
  const lab::Landscape base = lab::read_landscape(landscape_file(command.base));
  lab::FitPlan plan;
  if (is_toml(command.files.front())) {
    if (command.files.size() > 1) {
      throw UsageError("a fit to published statistics takes one file",
                       "name one file, or stores only");
    }
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    const std::string& file = command.files.front();
    const auto published = lab::parse_statistics(read_file(file, kMaxBytes), file);
    plan.name = command.name.empty() ? published.name : command.name;
    plan.source = published.source;
    return fit(published, base, plan);
  }
  std::vector<lab::RecordedSearch> searches;
  std::string source;
  for (const std::string& file : command.files) {
    for (StoredSearch& stored : stored_searches(file, command.run)) {
      searches.push_back(std::move(stored.search));
    }
    source += (source.empty() ? "" : ", ") + fs::path(file).filename().string();
  }
  plan.name = command.name.empty() ? fs::path(command.files.front()).stem().string() : command.name;
  plan.source = "fitted to " + source;
  return fit(searches, base, plan);
}

ExitCode fit_landscape(const FitCommand& command) {
  const nlohmann::json document = lab_fit_json(fitted(command));
  const std::string landscape = document.at("landscape");
  if (!command.output.empty()) {
    write_file_atomic(command.output, landscape);
  }
  if (command.json) {
    std::cout << json_document(document);
  } else {
    std::cout << lab_fit_text(document)
              << (command.output.empty() ? "\n" + landscape
                                         : "written to " + command.output + "\n");
  }
  return ExitCode::Done;
}

struct ReplayCommand {
  std::vector<std::string> stores, strategies;
  std::string run;
  bool searches = false;
  bool json = false;
};

ExitCode replay_searches(const ReplayCommand& command) {
  const std::vector<std::string>& names =
      command.strategies.empty() ? search::strategy_names() : command.strategies;
  std::vector<LabReplay> replays;
  for (const std::string& file : command.stores) {
    for (const StoredSearch& stored : stored_searches(file, command.run)) {
      for (const std::string& name : names) {
        replays.push_back({stored.search.name, name, name == stored.strategy,
                           lab::replay(stored.search, search::preset(name).policy)});
      }
    }
  }
  const nlohmann::json document = lab_replay_json(replays);
  std::cout << (command.json ? json_document(document)
                             : lab_replay_text(document, command.searches));
  return ExitCode::Done;
}

void add_comparison_options(CLI::App& sub, ComparisonCommand& command) {
  lab::ComparisonPlan& plan = command.plan;
  sub.add_option("--landscape", command.landscapes,
                 "TOML file, or the name of a landscape that comes with Winnow; may be repeated "
                 "(default: all that come with Winnow)");
  sub.add_option("--seeds", plan.seeds, "number of simulated tasks")->check(CLI::Range(2, 100'000));
  sub.add_option("--calls", plan.budget.calls, "budget in model calls for each task")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--dollars", plan.budget.dollars,
                 "budget in dollars for each task (default: the mean price of --calls calls)")
      ->check(above_zero());
  sub.add_option("--device-seconds", plan.budget.device_seconds,
                 "budget of the device for each task (default: the evaluations of --calls calls)")
      ->check(above_zero());
  sub.add_option("--chains", plan.settings.lineages,
                 "one-plus-one: the calls are divided among this many chains, as by run.chains")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--patience", plan.settings.patience, "as run.patience")
      ->check(CLI::Range(0, 100'000));
  sub.add_option("--value-of-doubling", plan.settings.value_of_doubling, "as run.value_of_doubling")
      ->check(at_least_zero());
  sub.add_option("--parallel", plan.machine.parallel, "calls in flight")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--devices", plan.machine.devices, "devices, each judging one kernel at a time")
      ->check(CLI::Range(1, 1000));
  sub.add_flag("--json", command.json,
               "one JSON document, schema winnow.lab_comparison, version 1");
}

void add_compare(CLI::App& lab_command, Action& chosen) {
  const auto [sub, command] =
      add_command(lab_command, chosen, "compare",
                  "Compare strategies on simulated tasks at equal budget, per call, dollar and "
                  "second of the device",
                  compare_strategies);
  sub.add_option("STRATEGY", command.strategies, "strategies as in run.strategy (default: all)");
  sub.add_flag("--all", command.all, "every strategy; the same as naming none");
  sub.add_option("--against", command.against, "the strategy that the others stand beside");
  add_comparison_options(sub, command);
}

void add_ablate(CLI::App& lab_command, Action& chosen) {
  const auto [sub, command] =
      add_command(lab_command, chosen, "ablate",
                  "What each mechanism of a strategy is worth on simulated tasks: the strategy "
                  "beside itself without the mechanism",
                  ablate);
  sub.add_option("STRATEGY", command.strategies,
                 "as in run.strategy (default: " + command.against + ")")
      ->expected(0, 1);
  add_comparison_options(sub, command);
}

void add_fit(CLI::App& lab_command, Action& chosen) {
  const auto [sub, command] =
      add_command(lab_command, chosen, "fit",
                  "Fit a landscape to recorded searches, and print it with the quality of the fit",
                  fit_landscape);
  sub.add_option("FILE", command.files, "stores, or one TOML file with published statistics")
      ->required();
  sub.add_option("--run", command.run, "only this run of the stores, by name");
  sub.add_option("--base", command.base,
                 "the landscape whose numbers stay where the records say nothing");
  sub.add_option("--name", command.name, "name of the landscape (default: that of the first file)");
  sub.add_option("-o,--output", command.output, "write the landscape to this file");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.lab_fit, version 1");
}

void add_replay(CLI::App& lab_command, Action& chosen) {
  const auto [sub, command] = add_command(
      lab_command, chosen, "replay",
      "What strategies would have done with the replies of recorded searches, as far as "
      "the logs allow; prompts play no part",
      replay_searches);
  sub.add_option("STORE", command.stores, "SQLite files of runs")->required();
  sub.add_option("--strategy", command.strategies,
                 "only this strategy; may be repeated (default: all)");
  sub.add_option("--run", command.run, "only this run of the stores, by name");
  sub.add_flag("--searches", command.searches, "a line for each search, too");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.lab_replay, version 1");
}

} // namespace

void add_lab(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "lab", "Strategies against simulated models and devices, without network and GPU "
             "(docs/lab.md)");
  sub->require_subcommand(1);
  add_compare(*sub, chosen);
  add_ablate(*sub, chosen);
  add_fit(*sub, chosen);
  add_replay(*sub, chosen);
}

} // namespace winnow::harness
