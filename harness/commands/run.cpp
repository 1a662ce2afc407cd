#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/run/session.h"
#include "search/search.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace winnow::harness {

void add_run(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<NewRunOptions>();
  CLI::App* sub = app.add_subcommand(
      "run", "Search for faster kernels: ask, compile, judge, time, record, rank");
  sub->add_option(
      "CONFIG", options->config,
      "TOML file, or the name of a config that comes with Winnow: live or quickstart (default: "
      "quickstart, which needs no GPU and no key)");
  sub->add_option("--store", options->store, "SQLite file for the results [run.store]");
  sub->add_option_function<std::string>(
         "--strategy",
         [options](const std::string& name) {
           options->shared.keys.push_back({"run.strategy", name, "--strategy", true});
         },
         fmt::format("how the search goes on: {} (docs/strategies.md) [run.strategy]",
                     fmt::join(search::strategy_names(), ", ")))
      ->type_name("NAME");
  add_new_run_options(*sub, *options);
  sub->callback([options, &chosen] {
    chosen = [options] {
      const RunConfig config = configured(*options);
      tell_own_templates(config);
      return start_run(config, options->names_run());
    };
  });
}

} // namespace winnow::harness
