#pragma once

#include "harness/exit/exit_codes.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

namespace winnow::store {
struct LeaderboardQuery;
}

namespace winnow::harness {

/// Completes the help of all options below `app`: they show their defaults. Options that take lists
/// take one value each time.
void finish_options(CLI::App& app);

/// Check that the value of an option is such a number.
CLI::Validator at_least_zero();
CLI::Validator above_zero();

/// Adds an option that takes a duration above 0: seconds, or 250ms, 90s, 10m. --help shows a
/// `value` that is not 0 as the default. Parsing throws UsageError.
CLI::Option* add_duration(CLI::App& sub, const std::string& name, std::chrono::milliseconds& value,
                          const std::string& help);

/// The chosen subcommand. Runs after the whole command line has been parsed.
using Action = std::function<ExitCode()>;

/// Adds a subcommand, with help, to `parent`. Parsing sets `chosen` if the subcommand is on the
/// command line.
using AddCommand = void(CLI::App& parent, Action& chosen);

AddCommand add_doctor, add_tasks, add_rules, add_eval, add_profile, add_race, add_tune,
    add_baseline, add_run, add_bench, add_lab, add_resume, add_leaderboard, add_show, add_diff,
    add_roles, add_reverify, add_export, add_batch, add_models, add_serve, add_worker, add_broker,
    add_mcp;
struct NamedCommand {
  std::string_view name;
  AddCommand* add; ///< adds the command of this name and no other
};
/// In the order of --help.
constexpr NamedCommand kCommands[] = {{"doctor", add_doctor},
                                      {"tasks", add_tasks},
                                      {"rules", add_rules},
                                      {"eval", add_eval},
                                      {"profile", add_profile},
                                      {"race", add_race},
                                      {"tune", add_tune},
                                      {"baseline", add_baseline},
                                      {"run", add_run},
                                      {"bench", add_bench},
                                      {"lab", add_lab},
                                      {"resume", add_resume},
                                      {"leaderboard", add_leaderboard},
                                      {"show", add_show},
                                      {"diff", add_diff},
                                      {"roles", add_roles},
                                      {"reverify", add_reverify},
                                      {"export", add_export},
                                      {"batch", add_batch},
                                      {"models", add_models},
                                      {"serve", add_serve},
                                      {"worker", add_worker},
                                      {"broker", add_broker},
                                      {"mcp", add_mcp}};
AddCommand add_tasks_import, add_selftest; ///< subcommands of `tasks`
AddCommand add_baseline_gpus;              ///< a subcommand of `baseline`
AddCommand add_export_kernel, add_export_kernelbench, add_export_gpumode, add_export_solution,
    add_export_training;
constexpr AddCommand* kExports[] = {add_export_kernel, add_export_kernelbench, add_export_gpumode,
                                    add_export_solution,
                                    add_export_training}; ///< the subcommands of `export`

/// Adds a subcommand that runs `act` with what its options have set. The caller adds the options,
/// which may be repeated if they take several values, and show their defaults in --help.
template <typename Argument, typename Command = std::decay_t<Argument>>
std::pair<CLI::App&, Command&> add_command(CLI::App& parent, Action& chosen, const char* name,
                                           const std::string& help, ExitCode (*act)(Argument)) {
  const auto command = std::make_shared<Command>();
  CLI::App* sub = parent.add_subcommand(name, help);
  sub->callback([command, act, &chosen] { chosen = [command, act] { return act(*command); }; });
  return {*sub, *command};
}

constexpr const char* kStoreHelp =
    "SQLite file with the results (default: $WINNOW_STORE, else the newest *.db in runs/ and "
    "~/.local/share/winnow/)";

constexpr const char* kStoreToAddHelp =
    "SQLite file for the results; Winnow creates a missing file (default: $WINNOW_STORE, else the "
    "newest *.db in runs/ and ~/.local/share/winnow/, else ~/.local/share/winnow/baselines.db)";
constexpr const char* kTaskHelp = "name, category/name or folder of the task";

/// Adds --task, --run and --device, which choose rows of boards.
void add_query_options(CLI::App& sub, store::LeaderboardQuery& query);

} // namespace winnow::harness
