// `winnow export training`: what a store has for those who train models.
#include "agents/reply/read_reply.h"
#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/named/named_task.h"
#include "harness/report/counted.h"
#include "harness/report/terminal.h"
#include "harness/report/visible_output.h"
#include "harness/run/session.h"
#include "harness/run/state/journal.h"
#include "store/training/training.h"
#include "tasks/task/task.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, store::TrainingSelection>& selections() {
  static const std::map<std::string, store::TrainingSelection> names{
      {"supervised", store::TrainingSelection::Supervised},
      {"preferences", store::TrainingSelection::Preferences},
      {"rewards", store::TrainingSelection::Rewards}};
  return names;
}

struct ExportTrainingCommand {
  std::string format = "jsonl";
  std::string store, output, selection = "supervised";
  store::TrainingOptions options;
};

/// The folders of this machine whose names no line may have.
std::vector<std::string> private_folders(const fs::path& store) {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& folder) {
    const std::string name = folder.string();
    if (folder.is_absolute() && folder != folder.root_path()) {
      folders.push_back(name);
    }
  };
  if (const char* home = std::getenv("HOME")) {
    add(home);
  }
  add(fs::current_path());
  add(fs::absolute(store).parent_path());
  return folders;
}

store::TrainingReply split(std::string_view reply) {
  agents::ReplyParts parts = agents::split_reply(reply);
  return {std::move(parts.reasoning), std::move(parts.answer)};
}

std::string summary_text(const std::string& selection, const store::TrainingSummary& summary) {
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  std::string text = fmt::format(
      "{}: {} of {}, from {} of models\n", selection, counted(number(summary.lines), "line"),
      counted(number(summary.tasks), "task"), counted(number(summary.replies), "reply", "replies"));
  for (const auto& [reason, count] : summary.left_out) {
    text += fmt::format("  left out because it {}: {}\n", reason, count);
  }
  return text;
}

store::TrainingSummary write_lines(const store::RunStore& store,
                                   const store::TrainingOptions& options,
                                   const std::string& output) {
  if (output.empty()) {
    return store::write_training(
        store, options, [](std::string_view line) { print_file(std::string(line) + '\n'); });
  }
  AtomicFile file(output, Readers::Owner);
  store::TrainingSummary summary =
      store::write_training(store, options, [&](std::string_view line) {
        file.write(line);
        file.write("\n");
      });
  if (summary.replies > 0) {
    file.commit();
  }
  return summary;
}

ExitCode export_training(ExportTrainingCommand command) {
  const std::string path = find_store(command.store);
  const store::RunStore store(path, store::RunStore::Mode::ReadOnly);
  store::TrainingOptions& options = command.options;
  options.query.run = only_run(store, options.query.run);
  store.require_known(options.query);
  options.selection = selections().at(command.selection);
  options.secret = private_folders(path);
  options.split = split;
  const store::TrainingSummary summary = write_lines(store, options, command.output);
  if (summary.replies == 0) {
    throw UsageError(fmt::format("{} has no reply of a model that is asked for", path),
                     "name another store with --store, or leave out --run, --task and --device");
  }
  std::cerr << summary_text(command.selection, summary);
  return ExitCode::Done;
}

void add_options(CLI::App& sub, ExportTrainingCommand& command) {
  std::vector<std::string> names;
  for (const auto& [name, selection] : selections()) {
    names.push_back(name);
  }
  sub.add_option("--select", command.selection,
                 "supervised: correct and promoted replies above a speedup, each machine code "
                 "once; preferences: two replies to one prompt, of which a race told the faster; "
                 "rewards: each judged reply with a reward")
      ->check(CLI::IsMember(names));
  sub.add_option("--format", command.format, "jsonl: a JSON object on each line")
      ->check(CLI::IsMember({"jsonl"}));
  sub.add_option("--above", command.options.above,
                 "supervised: only kernels whose speedup is above this, with 95 % certainty")
      ->check(at_least_zero());
  sub.add_option("--per-task", command.options.per_task,
                 "supervised and preferences: lines of each task, at most; 0: all");
}

} // namespace

void add_export_training(CLI::App& export_command, Action& chosen) {
  const auto [sub, command] =
      add_command(export_command, chosen, "training",
                  "Write prompts, replies, kernel files, verdicts and speedups as JSON lines, to "
                  "train models with",
                  export_training);
  add_options(sub, command);
  sub.add_option("--store", command.store, kStoreHelp);
  sub.add_option("--output", command.output, "file to write (default: stdout)");
  add_query_options(sub, command.options.query);
}

} // namespace winnow::harness
