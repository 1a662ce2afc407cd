#include "base/error.h"
#include "base/json_dump.h"
#include "evaluators/torch/python.h"
#include "harness/baseline/baseline_table.h"
#include "harness/baseline/torch_baseline.h"
#include "harness/baseline/torch_process.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/terminal.h"
#include "store/run_store.h"
#include "tasks/task/task.h"

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct BaselineCommand {
  std::string store;
  std::string python = evaluators::default_python();
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  evaluators::EvaluationOptions options;
  bool json = false;
  bool eager = false;
  unsigned jobs = 0;              ///< 0: a number that suits the machine
  std::vector<std::string> tasks; ///< empty: all
  std::chrono::milliseconds task_limit = std::chrono::seconds(60);
};

/// Of one task after the other, so that an end before the last task costs no times.
ExitCode torch(const BaselineCommand& command) {
  const std::vector<tasks::Task> chosen = named_tasks(command.tasks, command.store);
  check_isolation(command.options);
  TorchBaselineOptions options;
  options.evaluation = command.options;
  options.python = evaluators::find_python(command.python);
  options.timeout = command.timeout;
  options.compile = !command.eager;
  options.jobs = command.jobs;
  options.progress = [](const tasks::Shape& shape) {
    std::cerr << shape.id << " (" << to_string(shape) << ")\n";
  };
  const std::string path = find_store_to_write(command.store);
  std::optional<store::RunStore> store; // without times there is no new file
  bool all_agree = true;
  const auto done = [&](const tasks::Task& task, const TorchBaseline& one) {
    const nlohmann::json document = torch_json(task, one);
    std::cout << (command.json ? json_document(document) : torch_text(document)) << std::flush;
    if (!store) {
      store.emplace(path, store::RunStore::Mode::ReadWrite);
    }
    store->add_baseline_timings(store->add_task(task), one.timings);
    std::cerr << "stored the times of " << task.name << " in " << path << '\n';
    all_agree = all_agree && agrees(one);
  };
  if (chosen.size() == 1) { // its error is the command's, with its own remedy and exit code
    done(chosen.front(), measure_torch(chosen.front(), options));
  } else if (!for_each_torch_baseline(chosen, options, done)) {
    return ExitCode::Failure;
  }
  return all_agree ? ExitCode::Done : ExitCode::NotCorrect;
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
  options.run_timeout = command.timeout;
  BaselineTable baselines(options, command.task_limit);
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

/// The end of both helps of --time-budget.
constexpr const char* kBudgets = "default 150ms on the cpu, 20ms on a GPU";

void add_table(CLI::App& baseline, Action& chosen) {
  const auto [sub, command] = add_command(
      baseline, chosen, "table",
      "Time the baseline.cu of each task, and print a Markdown table with the share of the speed "
      "of "
      "light and the times of libraries and PyTorch (exit code 10: a baseline.cu has no time or is "
      "not correct)",
      table);
  sub.add_option("TASK", command.tasks,
                 "name, category/name or folder of each task; default: the whole catalogue");
  sub.add_option("--device", command.options.device, one_device());
  add_isolation_option(sub, command.options.require_isolation);
  sub.add_option("--store", command.store,
                 "SQLite file with the results of `winnow baseline torch` (default: the table has "
                 "no times of PyTorch)");
  add_duration(sub, "--timeout", command.timeout,
               "wall-clock limit of one run: a kernel on all shapes of a set");
  add_duration(sub, "--task-limit", command.task_limit,
               "wall-clock limit for one task; the rows of a task that takes longer have the "
               "times so far and a note");
  add_duration(sub, "--time-budget", command.options.time_budget,
               std::string("sampling time per shape; ") + kBudgets);
}

void add_torch(CLI::App& baseline, Action& chosen) {
  const auto [sub, command] = add_command(
      baseline, chosen, "torch",
      "Time the task's reference.py with PyTorch, eager and with torch.compile, and compare its "
      "answers with reference.cu (exit code 10: the answers differ)",
      torch);
  sub.add_option(
         "TASK", command.tasks,
         "name, category/name or folder of each task; several tasks compile and answer side "
         "by side before they are timed")
      ->required();
  sub.add_option("--device", command.options.device, one_device());
  sub.add_option("--store", command.store, kStoreToAddHelp);
  add_isolation_option(sub, command.options.require_isolation);
  sub.add_option("--python", command.python, "Python that has PyTorch: a name or a path");
  add_duration(sub, "--timeout", command.timeout,
               "wall-clock limit for one shape in one mode: load, compile, run and time");
  add_duration(sub, "--time-budget", command.options.time_budget,
               std::string("sampling time per shape and mode (eager, compiled); a slow model gets "
                           "up to four times as long for its first 20 samples; ") +
                   kBudgets);
  sub.add_option("--jobs", command.jobs,
                 "tasks that compile and answer side by side, on one GPU's memory; 0: one for each "
                 "two cores, but at most eight")
      ->check(CLI::Range(0, 64));
  sub.add_flag("--eager", command.eager, "do not run torch.compile, which takes seconds a shape");
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.baselines, version 1");
}

} // namespace

void add_baseline(CLI::App& app, Action& chosen) {
  CLI::App* sub =
      app.add_subcommand("baseline", "Time a task in a framework, or its baseline.cu on several "
                                     "GPUs, and store the times");
  sub->require_subcommand(1);
  add_torch(*sub, chosen);
  add_table(*sub, chosen);
  add_baseline_gpus(*sub, chosen);
}

} // namespace winnow::harness
