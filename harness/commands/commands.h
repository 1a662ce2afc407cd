#pragma once

#include "harness/exit/exit_codes.h"

#include <functional>
#include <string>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace winnow::harness {

/// Checks that the value of an option is a number of at least 0.
CLI::Validator at_least_zero();
CLI::Validator above_zero();

/// The chosen subcommand. Runs after the whole command line has been parsed.
using Action = std::function<ExitCode()>;

/// Each function adds its subcommand, with help, to `app`. Parsing sets `chosen` if the subcommand
/// is on the command line.
void add_doctor(CLI::App& app, Action& chosen);
void add_tasks(CLI::App& app, Action& chosen);
void add_selftest(CLI::App& tasks_command, Action& chosen);     ///< adds to `tasks`
void add_tasks_import(CLI::App& tasks_command, Action& chosen); ///< adds to `tasks`
void add_baseline(CLI::App& app, Action& chosen);
void add_baseline_gpus(CLI::App& baseline_command, Action& chosen); ///< adds to `baseline`
void add_eval(CLI::App& app, Action& chosen);
void add_profile(CLI::App& app, Action& chosen);
void add_race(CLI::App& app, Action& chosen);
void add_tune(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_lab(CLI::App& app, Action& chosen);
void add_resume(CLI::App& app, Action& chosen);
void add_leaderboard(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_diff(CLI::App& app, Action& chosen);
void add_roles(CLI::App& app, Action& chosen);
void add_reverify(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
using AddExport = void(CLI::App& export_command, Action& chosen);
AddExport add_export_kernel, add_export_kernelbench, add_export_solution, add_export_training;
constexpr AddExport* kExports[] = {add_export_kernel, add_export_kernelbench, add_export_solution,
                                   add_export_training}; ///< the subcommands of `export`
void add_batch(CLI::App& app, Action& chosen);
void add_models(CLI::App& app, Action& chosen);
void add_serve(CLI::App& app, Action& chosen);
void add_worker(CLI::App& app, Action& chosen);
void add_broker(CLI::App& app, Action& chosen);

constexpr const char* kStoreHelp =
    "SQLite file with the results (default: $WINNOW_STORE, else the newest *.db in runs/ and "
    "~/.local/share/winnow/)";

} // namespace winnow::harness
