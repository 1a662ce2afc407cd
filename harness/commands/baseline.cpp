#include "base/error.h"
#include "base/json_dump.h"
#include "evaluators/torch/python.h"
#include "harness/baseline/baseline_table.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/baseline/torch_process.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/config/duration.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/terminal.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct BaselineCommand {
  std::string task;
  std::string store;
  std::string python = evaluators::default_python();
  std::string timeout = "5m";
  std::string time_budget;
  evaluators::EvaluationOptions options;
  bool json = false;
  bool eager = false;
  std::vector<std::string> tasks; ///< of the table; empty: all
  std::string task_limit = "60s";
};

ExitCode torch(const BaselineCommand& command) {
  const tasks::Task task = named_task(command.task, command.store);
  if (task.torch) {
    throw UsageError("the reference of " + task.name +
                         " is the PyTorch module in reference.py, so there is no reference.cu to "
                         "compare the module with",
                     "judge a kernel: where the task has no baseline.cu, `winnow eval` and `winnow "
                     "run` time PyTorch eager beside it");
  }
  check_isolation(command.options);
  TorchBaselineOptions options;
  options.evaluation = command.options;
  options.python = evaluators::find_python(command.python);
  options.timeout = duration_option("--timeout", command.timeout);
  if (!command.time_budget.empty()) {
    options.evaluation.time_budget = duration_option("--time-budget", command.time_budget);
  }
  options.compile = !command.eager;
  options.progress = [](const tasks::Shape& shape) {
    std::cerr << shape.id << " (" << to_string(shape) << ")\n";
  };
  const TorchBaseline baseline = measure_torch(task, options);
  const nlohmann::json document = torch_json(task, baseline);
  std::cout << (command.json ? json_document(document) : torch_text(document)) << std::flush;
  const std::string path = find_store_to_write(command.store);
  store::RunStore store(path, store::RunStore::Mode::ReadWrite);
  store.add_baseline_timings(store.add_task(task), baseline.timings);
  std::cerr << "stored the times in " << path << '\n';
  return agrees(baseline) ? ExitCode::Done : ExitCode::NotCorrect;
}

/// The table of one task after the other, so that an end before the last task costs no rows.
ExitCode table(const BaselineCommand& command) {
  check_isolation(command.options);
  const std::vector<tasks::Task> chosen = named_tasks(command.tasks, command.store);
  std::optional<store::RunStore> store;
  if (!command.store.empty()) {
    store.emplace(require_store(command.store), store::RunStore::Mode::ReadOnly);
  }
  evaluators::EvaluationOptions options = command.options;
  options.run_timeout = duration_option("--timeout", command.timeout);
  if (!command.time_budget.empty()) {
    options.time_budget = duration_option("--time-budget", command.time_budget);
  }
  BaselineTable baselines(options, duration_option("--task-limit", command.task_limit));
  std::cerr << "device: " << baselines.device().name << '\n';
  baselines.compile_ahead({chosen.begin() + 1, chosen.end()});
  bool all_are_timed = true;
  for (const tasks::Task& task : chosen) {
    const auto stored = store ? store->baseline_timings(task.name, baselines.device().name)
                              : std::vector<store::BaselineTiming>();
    const std::vector<BaselineRow> rows = baselines.rows(task, stored);
    std::cout << baseline_table_text(rows, &task == &chosen.front()) << std::flush;
    for (const BaselineRow& row : rows) {
      all_are_timed = all_are_timed && row.median_ns > 0 && row.note.empty();
    }
  }
  return all_are_timed ? ExitCode::Done : ExitCode::NotCorrect;
}

void add_table_options(CLI::App& parent, BaselineCommand& command) {
  parent.add_option("TASK", command.tasks,
                    "name, category/name or folder of each task; default: the whole catalogue");
  parent
      .add_option("--device", command.options.device,
                  "best, " + tasks::device_words() + ", or one device such as cuda:0")
      ->capture_default_str();
  add_isolation_option(parent, command.options.require_isolation);
  parent.add_option("--store", command.store,
                    "SQLite file with the results of `winnow baseline torch` (default: the table "
                    "has no times of PyTorch)");
  parent
      .add_option("--timeout", command.timeout,
                  "wall-clock limit of one run: a kernel on all shapes of a set")
      ->capture_default_str();
  parent
      .add_option("--task-limit", command.task_limit,
                  "wall-clock limit for one task; the rows of a task that takes longer have the "
                  "times so far and a note")
      ->capture_default_str();
  parent.add_option("--time-budget", command.time_budget,
                    "sampling time per shape; default 150ms on the cpu, 20ms on a GPU");
}

void add_torch(CLI::App& parent, BaselineCommand& command) {
  parent.add_option("TASK", command.task, "name, category/name or folder of the task")->required();
  parent
      .add_option("--device", command.options.device,
                  "best, " + tasks::device_words() + ", or one device such as cuda:0")
      ->capture_default_str();
  parent.add_option(
      "--store", command.store,
      "SQLite file for the results; Winnow creates a missing file (default: $WINNOW_STORE, "
      "else the newest *.db in runs/ and ~/.local/share/winnow/, else "
      "~/.local/share/winnow/baselines.db)");
  add_isolation_option(parent, command.options.require_isolation);
  parent.add_option("--python", command.python, "Python that has PyTorch: a name or a path")
      ->capture_default_str();
  parent
      .add_option("--timeout", command.timeout,
                  "wall-clock limit for one shape in one mode: load, compile, run and time")
      ->capture_default_str();
  parent.add_option(
      "--time-budget", command.time_budget,
      "sampling time per shape and mode (eager, compiled); a slow model gets up to four "
      "times as long for its first 20 samples; default 150ms on the cpu, 20ms on a GPU");
  parent.add_flag("--eager", command.eager,
                  "do not run torch.compile, which takes seconds a shape");
  parent.add_flag("--json", command.json, "one JSON document, schema winnow.baselines, version 1");
}

} // namespace

void add_baseline(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<BaselineCommand>();
  CLI::App* sub =
      app.add_subcommand("baseline", "Time a task in a framework, or its baseline.cu on several "
                                     "GPUs, and store the times");
  sub->require_subcommand(1);
  CLI::App* torch_sub = sub->add_subcommand(
      "torch", "Time the task's reference.py with PyTorch, eager and with torch.compile, and "
               "compare its answers with reference.cu (exit code 10: the answers differ)");
  add_torch(*torch_sub, *command);
  CLI::App* table_sub = sub->add_subcommand(
      "table",
      "Time the baseline.cu of each task, and print a Markdown table with the share of the "
      "speed of light and the times of libraries and PyTorch (exit code 10: a baseline.cu "
      "has no time or is not correct)");
  add_table_options(*table_sub, *command);
  table_sub->callback([command, &chosen] { chosen = [command] { return table(*command); }; });
  torch_sub->callback([command, &chosen] { chosen = [command] { return torch(*command); }; });
  add_baseline_gpus(*sub, chosen);
}

} // namespace winnow::harness
