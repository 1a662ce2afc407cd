#include "agents/record/recording.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/machine/machine.h"
#include "harness/named/named_task.h"
#include "harness/report/board_report.h"
#include "harness/report/terminal.h"
#include "harness/report/visible_output.h"
#include "harness/run/session.h"
#include "harness/run/state/journal.h"
#include "harness/suite/suite_scores.h"
#include "store/board/board.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

struct ExportCommand {
  std::string format;
  std::string store;
  std::string output;
  store::LeaderboardQuery query;
  std::string suite; ///< of the page Models; empty: none
  bool with_prompts = false;
  std::size_t max_size = 20'000'000;
};

/// The named run; without a name, the only run.
store::RunRow recorded_run(const store::RunStore& store, const std::string& name) {
  if (!name.empty()) {
    return named_run(store, name);
  }
  const std::vector<store::RunRow> runs = store.runs();
  if (runs.size() == 1) {
    return runs.front();
  }
  std::vector<std::string> names;
  for (const store::RunRow& run : runs) {
    names.push_back(run.name);
  }
  if (runs.empty()) {
    throw UsageError("the store has no run", "name another store with --store");
  }
  throw UsageError("the store has several runs: " + join(names, ", "),
                   "name one of them with --run");
}

/// The run's replies as JSON lines, for endpoint.kind = "replay".
std::string recording(const store::RunStore& store, const std::string& name) {
  std::string lines;
  for (const store::ModelCallRow& call : store.finished_calls(recorded_run(store, name).id)) {
    lines += agents::encode_call({call.key, reply_from_row(call), call.request}) + "\n";
  }
  return lines;
}

std::string exported(const ExportCommand& command) {
  if (!command.suite.empty() && command.format != "html") {
    throw UsageError("--suite belongs to `export html`",
                     "`winnow leaderboard --suite " + command.suite + " --json` prints the suite");
  }
  const store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadOnly);
  if (command.format == "recording") {
    return recording(store, command.query.run);
  }
  const Format format = command.format == "csv"    ? Format::Csv
                        : command.format == "json" ? Format::Json
                                                   : Format::Markdown;
  store::LeaderboardQuery query = command.query;
  query.run = only_run(store, query.run);
  store.require_known(query);
  if (command.format == "html") {
    const std::string suite =
        command.suite.empty()
            ? ""
            : json_line(stored_suite_json(store, command.suite, command.query.run));
    return store::board_page(
        store, {query, command.with_prompts, command.max_size, winnow_version(), suite, {}, true});
  }
  return export_run(store, query, format);
}

ExitCode run_export(const ExportCommand& command) {
  const std::string text = exported(command);
  if (command.output.empty()) {
    print_file(text);
  } else {
    write_file_atomic(command.output, text, Readers::Owner);
  }
  return ExitCode::Done;
}

/// A word that is no format may be meant as a subcommand.
CLI::Validator format_check(const CLI::App& sub) {
  const std::vector<std::string> formats{"html", "csv", "json", "md", "recording"};
  return {[&sub, formats](std::string& word) {
            std::vector<std::string> known = formats;
            for (const CLI::App* one : sub.get_subcommands(nullptr)) {
              known.push_back(one->get_name());
            }
            const bool is_format = std::find(formats.begin(), formats.end(), word) != formats.end();
            return is_format ? std::string()
                             : fmt::format("unknown format '{}'{}", word, suggestion(word, known));
          },
          "{" + join(formats, ",") + "}"};
}

} // namespace

void add_export(CLI::App& app, Action& chosen) {
  auto command = std::make_shared<ExportCommand>();
  command->query.top = 0;
  CLI::App* sub = app.add_subcommand(
      "export", "Write out a store: ranks, candidates, verdicts, cases and kernel files");
  sub->add_option(
         "FORMAT", command->format,
         "html: a page for a browser, which needs no network; csv, json or md; recording: the "
         "model's replies as JSON lines for the replay endpoint")
      ->check(format_check(*sub));
  sub->add_option("--store", command->store, kStoreHelp);
  sub->add_option("--output", command->output, "file to write (default: stdout)");
  add_query_options(*sub, command->query);
  sub->add_option("--suite", command->suite,
                  "html: compare the runs at the tasks of this suite on the page Models; the suite "
                  "is named as for `winnow bench`");
  sub->add_flag("--with-prompts", command->with_prompts,
                "html: prompts and replies, too; without it only a recording has replies");
  sub->add_option("--max-size", command->max_size,
                  "html: bytes, at most. Left out in this order: samples of candidates that lead "
                  "no board, prompts and replies, kernel files of incorrect candidates, candidates "
                  "below the top of their board")
      ->transform(CLI::AsSizeValue(true));
  for (AddCommand* const add : kExports) {
    add(*sub, chosen);
  }
  sub->callback([command, sub, &chosen] {
    if (sub->get_subcommands().empty()) {
      if (command->format.empty()) { // required() would hold for the subcommands, too
        throw CLI::RequiredError("FORMAT");
      }
      chosen = [command] { return run_export(*command); };
    }
  });
}

} // namespace winnow::harness
