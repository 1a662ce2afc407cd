#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/report/terminal.h"
#include "harness/run/session.h"
#include "search/search.h"

#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winnow::harness {
namespace {

ExitCode run(const NewRunOptions& options) {
  const RunConfig config = configured(options);
  tell_own_templates(config);
  return start_run(config, options.names_run());
}

struct ResumeCommand {
  std::string run;
  std::string store;
  RunOptions shared;
  TrustOptions trust;
};

ExitCode resume(const ResumeCommand& command) {
  return resume_run(find_store(command.store), command.run, overrides_of(command.shared),
                    trust_of(command.trust));
}

} // namespace

void add_run(CLI::App& app, Action& chosen) {
  const auto [sub, options] =
      add_command(app, chosen, "run",
                  "Search for faster kernels: ask, compile, judge, time, record, rank", run);
  sub.add_option("CONFIG", options.config,
                 "TOML file, or the name of a config that comes with Winnow: live, quickstart or "
                 "gallery (default: quickstart, which needs no GPU and no key)");
  sub.add_option("--store", options.store, "SQLite file for the results [run.store]");
  sub.add_option_function<std::string>(
         "--strategy",
         [&keys = options.shared.keys](const std::string& name) {
           keys.push_back({"run.strategy", name, "--strategy", true});
         },
         fmt::format("how the search goes on: {} (docs/strategies.md) [run.strategy]",
                     fmt::join(search::strategy_names(), ", ")))
      ->type_name("NAME");
  add_new_run_options(sub, options);
}

void add_resume(CLI::App& app, Action& chosen) {
  const auto [sub, command] =
      add_command(app, chosen, "resume",
                  "Continue a run that was interrupted, killed or stopped by a limit", resume);
  sub.add_option("RUN", command.run, "name or number of the run")->required();
  sub.add_option("--store", command.store, kStoreHelp);
  add_run_options(sub, command.shared);
  add_trust_options(sub, command.trust);
}

} // namespace winnow::harness
