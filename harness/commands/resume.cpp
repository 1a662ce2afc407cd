#include "harness/commands/commands.h"
#include "harness/commands/run_options.h"
#include "harness/report/terminal.h"
#include "harness/run/session.h"

#include <memory>

#include <CLI/CLI.hpp>

namespace winnow::harness {
namespace {

struct ResumeCommand {
  std::string run;
  std::string store;
  RunOptions shared;
  TrustOptions trust;
};

} // namespace

void add_resume(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<ResumeCommand>();
  CLI::App* sub = app.add_subcommand(
      "resume", "Continue a run that was interrupted, killed or stopped by a limit");
  sub->add_option("RUN", command->run, "name or number of the run")->required();
  sub->add_option("--store", command->store, kStoreHelp);
  add_run_options(*sub, command->shared);
  add_trust_options(*sub, command->trust);
  sub->callback([command, &chosen] {
    chosen = [command] {
      return resume_run(find_store(command->store), command->run, overrides_of(command->shared),
                        trust_of(command->trust));
    };
  });
}

} // namespace winnow::harness
