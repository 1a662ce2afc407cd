#include "base/json_dump.h"
#include "base/text.h"
#include "base/text/shell_word.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/named/named_task.h"
#include "harness/report/candidate_report.h"
#include "harness/report/json_table.h"
#include "harness/report/role_report.h"
#include "harness/report/terminal.h"
#include "harness/report/visible_output.h"
#include "harness/run/reports/reports.h"
#include "harness/run/session.h"

#include <iostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct ShowCommand {
  CandidateReport asked;
  std::string store;
  ServerOptions server;
};

struct DiffCommand {
  std::string a, b;
  std::string store;
  bool json = false;
};

constexpr const char* kIdHelp =
    "number of a candidate, or the first 4 or more digits of its file's digest; a leading @ is "
    "allowed";

store::CandidateRecord record_of(const store::RunStore& store, const std::string& name) {
  return store.candidate_record(store.candidate_named(name));
}

ExitCode show(const ShowCommand& command) {
  const std::string text = command.server.server.empty()
                               ? candidate_report(store::RunStore(find_store(command.store),
                                                                  store::RunStore::Mode::ReadOnly),
                                                  command.asked)
                               : report_at(command.server, candidate_target(command.asked));
  if (command.asked.part.empty() || command.asked.json) {
    std::cout << text;
  } else {
    print_file(text);
  }
  return ExitCode::Done;
}

/// The command that races A against B. `given`: the store that the command line names; may be
/// empty.
std::string race_command(const store::RunStore& store, const nlohmann::json& document,
                         const std::string& given) {
  return fmt::format("winnow race {} @{} @{}{}", word_of_store(store, text_at(document, "a/task")),
                     text_at(document, "a/candidate_id"), text_at(document, "b/candidate_id"),
                     given.empty() ? "" : " --store " + shell_word(given));
}

ExitCode diff(const DiffCommand& command) {
  const store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadOnly);
  const nlohmann::json document = diff_json(candidate_json(record_of(store, command.a), {}),
                                            candidate_json(record_of(store, command.b), {}));
  std::cout << (command.json ? json_document(document)
                             : diff_text(document, race_command(store, document, command.store)));
  return ExitCode::Done;
}

void add_parts(CLI::App& sub, ShowCommand& command) {
  std::vector<CLI::Option*> parts;
  const auto add = [&](const std::string& part, const char* help) {
    parts.push_back(sub.add_flag_callback(
        "--" + part, [&command, part] { command.asked.part = part; }, help));
  };
  add("source", "print the kernel file");
  add("plan", "print the launch plan, JSON");
  add("reply", "print the model's whole reply");
  add("prompt", "print the messages that the model was sent");
  add("log", "print the compiler's messages");
  add("samples", "print each measured time in ns, in columns separated by tabs");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      parts[i]->excludes(parts[j]);
    }
  }
}

} // namespace

void add_show(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "show",
      "One candidate: who wrote it and how, its verdict, times, parameters, resources and "
      "findings; or one part of it as plain text",
      show);
  sub.add_option("ID", command.asked.candidate, kIdHelp)->required();
  CLI::Option* store = sub.add_option("--store", command.store, kStoreHelp);
  add_parts(sub, command);
  sub.add_flag("--json", command.asked.json,
               "one JSON document, schema winnow.candidate, version 1; it has the prompt and the "
               "reply only with --prompt and --reply");
  add_server_options(sub, command.server, {store});
}

void add_diff(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "diff",
      "Compare two candidates: parameters, plan, resources, times, counters and lines", diff);
  sub.add_option("A", command.a, kIdHelp)->required();
  sub.add_option("B", command.b, "the other candidate")->required();
  sub.add_option("--store", command.store, kStoreHelp);
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.diff, version 1");
}

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
  const auto [sub, command] = add_command(
      app, chosen, "roles",
      "The roles of a run: what their calls cost, how often they were right, and when one "
      "was switched off (docs/roles.md)",
      roles);
  sub.add_option("RUN", command.run, "name or number of the run")->required();
  sub.add_option("--store", command.store, kStoreHelp);
  sub.add_flag("--json", command.json, "one JSON document, schema winnow.roles, version 1");
}

} // namespace winnow::harness
