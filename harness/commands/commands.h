#pragma once

#include "harness/exit_codes.h"

#include <functional>
#include <string>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace winnow::harness {

/// For options that take a number of at least 0.
CLI::Validator at_least_zero();

/// What the command line asks for; runs after it has been parsed as a whole.
using Action = std::function<ExitCode()>;

/// Each adds its subcommand, with help, to `app`; `chosen` is set when it is on the command line.
void add_doctor(CLI::App& app, Action& chosen);
void add_tasks(CLI::App& app, Action& chosen);
void add_selftest(CLI::App& tasks_command, Action& chosen); ///< of `tasks`
void add_baseline(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_profile(CLI::App& app, Action& chosen);
void add_race(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_resume(CLI::App& app, Action& chosen);
void add_leaderboard(CLI::App& app, Action& chosen);
void add_reverify(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
void add_batch(CLI::App& app, Action& chosen);
void add_models(CLI::App& app, Action& chosen);

constexpr const char* kStoreHelp =
    "SQLite file with the results (default: $WINNOW_STORE, else the newest runs/*.db)";

} // namespace winnow::harness
