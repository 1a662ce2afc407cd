#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/run/session.h"

#include <memory>

#include <CLI/CLI.hpp>

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
  add_new_run_options(*sub, *options);
  sub->callback([options, &chosen] {
    chosen = [options] { return start_run(configured(*options), options->names_run()); };
  });
}

} // namespace winnow::harness
