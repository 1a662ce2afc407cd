#include "base/json_dump.h"
#include "harness/commands/commands.h"
#include "harness/report/role_report.h"
#include "harness/report/terminal.h"
#include "harness/run/session.h"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct RolesCommand {
  std::string run;
  std::string store;
  bool json = false;
};

ExitCode roles(const RolesCommand& command) {
  const store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadOnly);
  const nlohmann::json document = roles_json(store, named_run(store, command.run));
  if (command.json) {
    std::cout << json_document(document);
    return ExitCode::Done;
  }
  const std::string text = roles_text(document);
  std::cout << (text.empty() ? "no role has spoken in this run\n" : text);
  return ExitCode::Done;
}

} // namespace

void add_roles(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<RolesCommand>();
  CLI::App* sub = app.add_subcommand(
      "roles", "The roles of a run: what their calls cost, how often they were right, and when one "
               "was switched off (docs/roles.md)");
  sub->add_option("RUN", command->run, "name or number of the run")->required();
  sub->add_option("--store", command->store, kStoreHelp);
  sub->add_flag("--json", command->json, "one JSON document, schema winnow.roles, version 1");
  sub->callback([command, &chosen] { chosen = [command] { return roles(*command); }; });
}

} // namespace winnow::harness
