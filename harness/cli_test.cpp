#include "base/files.h"
#include "base/text.h"
#include "evaluators/workers.h"
#include "harness/cli.h"
#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/exit/exit_codes.h"
#include "harness/report/terminal.h"
#include "store/run_store.h"
#include "store/test_store.h"
#include "tasks/catalogue.h"
#include "tasks/task/task.h"
#include "tasks/testing/module_toml_fake.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Output {
  int code = -1;
  std::string out;
  std::string err;
};

Output run(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Output result;
  result.code = run_cli(arguments);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

TEST(Cli, HelpNamesTheCommandsAndExitCodes) {
  const Output help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"doctor", "tasks", "eval", "run", "resume", "leaderboard", "export",
                           "Exit codes", "130 interrupted"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_EQ(help.err, "");
}

TEST(Cli, EveryCommandHasHelpWithExitCodes) {
  for (const char* command :
       {"doctor", "tasks", "eval", "run", "resume", "leaderboard", "export"}) {
    const Output help = run({command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    const std::string last =
        help.out.substr(std::min(help.out.find("Exit codes"), help.out.size()));
    EXPECT_THAT(last, StartsWith("Exit codes")) << command;
    EXPECT_EQ(last.find("Exit codes", 1), std::string::npos) << command << " has them twice";
  }
}

TEST(Cli, HelpShowsDefaults) {
  const Output help = run({"worker", "--help"});
  EXPECT_THAT(help.out, HasSubstr("--timeout TEXT=60s"));
  EXPECT_THAT(help.out, HasSubstr("--wait TEXT=5m"));
}

TEST(Cli, ADurationThatIsNoneIsNamed) {
  const Output output = run({"eval", "axpy", "no.cu", "--timeout", "soon"});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("--timeout soon: expected seconds, or a duration"));
}

TEST(Cli, AnOptionThatMayBeRepeatedTakesOneValueEachTime) {
  const Output output = run({"lab", "replay", "--strategy", "archive", "no.db"});
  EXPECT_THAT(output.err, HasSubstr("no.db"));
}

TEST(Cli, HelpIsAWordToo) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "tasks", "selftest"}).out, run({"tasks", "selftest", "--help"}).out);
  EXPECT_EQ(run({"version"}).out, run({"--version"}).out);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help", "modls"}, {"modls", "--help"}, {"--help", "modls"}}) {
    const Output unknown = run(words);
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("unknown command 'modls'; did you mean 'models'?"));
  }
  EXPECT_THAT(run({"help", "tasks", "selftst"}).err, HasSubstr("did you mean 'selftest'?"));
  EXPECT_EQ(run({"eval", "axpy", "--help"}).code, 0);
}

/// All commands below this one whose help lists --store.
void add_commands_with_store(const std::vector<std::string>& words,
                             std::vector<std::string>& commands) {
  std::vector<std::string> help = words;
  help.emplace_back("--help");
  const std::string text = run(help).out;
  if (text.find("\n  --store ") != std::string::npos) {
    commands.push_back(join(words, " "));
  }
  const std::size_t list = text.find("\nSubcommands:\n");
  for (const std::string_view line :
       split_lines(list == std::string::npos ? std::string_view()
                                             : std::string_view(text).substr(list + 1))) {
    if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ' &&
        !line.starts_with("  help ")) {
      std::vector<std::string> below = words;
      below.emplace_back(line.substr(2, line.find(' ', 2) - 2));
      add_commands_with_store(below, commands);
    }
  }
}

/// Sets a variable of the environment as long as it lives.
struct Variable {
  Variable(const char* given, const std::string& value) : name(given) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }
  Variable(const Variable&) = delete;
  const char* name;
};

TEST(Cli, EveryCommandThatChoosesAStoreNamesItLast) {
  const TemporaryDirectory directory("cli-test");
  const std::string store = (directory.path() / "chosen.db").string();
  store::RunStore(store, store::RunStore::Mode::ReadWrite)
      .create_run("r", nlohmann::json::object(), nlohmann::json::object());
  const std::string empty = (directory.path() / "empty").string();
  write_file_atomic(empty, "");
  const Variable variable("WINNOW_STORE", store);
  const std::string last = "store: " + store + " (from $WINNOW_STORE; --store names another)\n";
  // How each command looks at a store and ends soon, often because the store has no such candidate.
  const std::map<std::string, std::string> arguments{
      {"eval", " axpy @99"},
      {"profile", " axpy @99"},
      {"race", " axpy @99 @98"},
      {"tune", " axpy @99"},
      {"resume", " none"},
      {"leaderboard", ""},
      {"show", " 99"},
      {"diff", " 99 98"},
      {"roles", " r"},
      {"reverify", " --task none"},
      {"export", " md"},
      {"export kernel", " 99 " + empty},
      {"export kernelbench", " 99 " + empty},
      {"export gpumode", " 99 " + empty},
      {"export solution", " 99 " + empty},
      {"export training", ""},
      {"batch export", " --run none -o " + empty},
      {"batch import", " " + empty + " --run none -o " + empty}};
  // Their configuration names the store, or nothing but the option; or they choose at their end.
  const std::set<std::string> others{"run",           "bench", "baseline table", "baseline torch",
                                     "baseline gpus", "serve"};
  std::vector<std::string> commands;
  add_commands_with_store({}, commands);
  for (const std::string& command : commands) {
    if (!others.contains(command)) {
      ASSERT_TRUE(arguments.contains(command)) << command << ": how does it choose its store?";
      EXPECT_THAT(run(wrap_words(command + arguments.at(command), 1)).err, testing::EndsWith(last))
          << command;
    }
  }
  EXPECT_EQ(commands.size(), arguments.size() + others.size());
  EXPECT_EQ(find_store_to_write(""), store);
  EXPECT_EQ("store: " + take_chosen_store() + "\n", last);
  for (const char* words : {"leaderboard --json", "leaderboard --format json", "show 99 --json"}) {
    EXPECT_THAT(run(wrap_words(words, 1)).err, testing::Not(HasSubstr("store: "))) << words;
  }
  EXPECT_THAT(run({"leaderboard", "--store", store}).err, testing::Not(HasSubstr("store: ")));
}

TEST(Cli, ServeNamesTheStoreThatItChose) {
  const TemporaryDirectory directory("cli-test");
  const std::string file = (directory.path() / "no_database.db").string();
  write_file_atomic(file, "no database");
  const Variable variable("WINNOW_STORE", file);
  EXPECT_THAT(
      run({"serve", "--bind", "127.0.0.1:0"}).err,
      testing::EndsWith("store: " + file + " (from $WINNOW_STORE; --store names another)\n"));
}

TEST(Cli, AMisspeltNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(run({"tasks", "show", "softmax"}).err, HasSubstr("did you mean 'row_softmax'?"));
  const Output far = run({"tasks", "show", "zzz"});
  EXPECT_EQ(far.code, 2);
  EXPECT_THAT(far.err, testing::Not(HasSubstr("axpy")));
  EXPECT_THAT(far.err, HasSubstr("winnow tasks list"));
  EXPECT_THAT(run({"run", "quikstart"}).err, HasSubstr("did you mean 'quickstart'?"));
  EXPECT_THAT(run({"run", "configs/liv.toml"}).err, HasSubstr("no such config file"));
}

TEST(Cli, AnUnfilledTaskIsRefusedBeforeARunBegins) {
  const TemporaryDirectory directory("cli-test");
  const std::filesystem::path folder = directory.path() / "mine" / "axpy_of_mine";
  std::filesystem::create_directories(folder.parent_path());
  std::filesystem::copy(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue/blas/axpy",
                        folder);
  std::string python = read_file(folder / "reference.py", 1U << 20U);
  write_file_atomic(folder / "reference.py", python + "# TO DO: the sizes\n");
  const std::string file = (directory.path() / "a.db").string();
  const Output refused =
      run({"run", "quickstart", "--device", "cpu", "--store", file, "--task", folder.string()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr((folder / "reference.py:").string()));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Cli, WhatThisMachineLacksIsNamedWithARemedy) {
  const TemporaryDirectory directory("cli-test");
  const std::string kernel = WINNOW_SOURCE_DIR "/tasks/catalogue/blas/axpy/baseline.cu";
  const Output device = run({"eval", "axpy", kernel, "--device", "hip:99"});
  EXPECT_EQ(device.code, 3);
  EXPECT_THAT(device.err, HasSubstr("device 'hip:99' cannot be used: "));
  EXPECT_THAT(device.err, HasSubstr("--device cpu, which needs no GPU"));
  const Output folder = run({"tasks", "new", "/proc/mine"});
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("/proc/mine: "));
  EXPECT_THAT(folder.err, HasSubstr("remedy: "));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"tune", "axpy", kernel, "--device", "cpu", "-o", "/proc/mine"},
           {"batch", "export", "quickstart", "--device", "cpu", "-o", "/proc/mine", "--store",
            (directory.path() / "a.db").string()}}) {
    const Output unwritable = run(words);
    EXPECT_EQ(unwritable.code, 2) << words.front();
    EXPECT_THAT(unwritable.err, HasSubstr("/proc/mine: cannot be written: ")) << words.front();
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "a.db")) << "before any work";
  }
  const Variable empty{"WINNOW_CATALOGUE", directory.path().string()};
  const Output catalogue = run({"tasks", "list"});
  EXPECT_EQ(catalogue.code, 2);
  EXPECT_THAT(catalogue.err, HasSubstr("which is not a folder with tasks"));
}

/// A folder of prompt templates with a mistake.
void write_bad_template(const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  write_file_atomic(folder / "question_improve.md", "Mine.\n{{advise}}\n");
}

TEST(Cli, AMistakeInATemplateIsFoundBeforeARunBegins) {
  const TemporaryDirectory directory("cli-test");
  const std::filesystem::path prompts = directory.path() / "prompts";
  write_bad_template(prompts);
  const std::string file = (directory.path() / "a.db").string();
  const std::string setting = "prompts.directory=" + prompts.string();
  for (const std::vector<std::string>& begin : std::vector<std::vector<std::string>>{
           {"run", "quickstart", "--task", "axpy"},
           {"bench", "smoke", "--config", "quickstart"},
           {"batch", "export", "quickstart", "-o", (directory.path() / "r.jsonl").string()}}) {
    std::vector<std::string> words = begin;
    words.insert(words.end(), {"--device", "cpu", "--store", file, "--set", setting});
    const Output refused = run(words);
    EXPECT_EQ(refused.code, 2) << begin.front();
    EXPECT_THAT(refused.err, HasSubstr("question_improve.md:2: unknown placeholder {{advise}}"));
    EXPECT_FALSE(std::filesystem::exists(file)) << begin.front();
  }
}

TEST(Cli, RunsSayOnceWhichTemplatesOfTheirOwnTheyTake) {
  const TemporaryDirectory directory("cli-test");
  write_file_atomic(directory.path() / "question_improve.md", "Mine.\n");
  const std::string setting = "prompts.directory=" + directory.path().string();
  const std::string replies =
      std::string("replay:") + WINNOW_SOURCE_DIR + "/configs/quickstart_replies.jsonl";
  for (const std::vector<std::string>& begin : std::vector<std::vector<std::string>>{
           {"run", "quickstart", "--task", "axpy"},
           {"bench", "smoke", "--strategy", "best-of-n", "--strategy", "one-plus-one"},
           {"batch", "export", "quickstart", "-o", (directory.path() / ".r.jsonl").string()}}) {
    std::vector<std::string> words = begin;
    words.insert(words.end(), {"--device", "cuda:99", "--set", setting, "--model", replies});
    const std::string told = run(words).err;
    const std::string line = "own prompt templates in " + directory.path().string() +
                             ": question_improve.md (without {{advice}}); the replies are recorded";
    EXPECT_THAT(told, HasSubstr(line)) << begin.front();
    EXPECT_EQ(told.find(line), told.rfind(line)) << begin.front();
  }
}

TEST(Cli, AMistakeInATemplateChangesNoRunThatIsResumed) {
  const TemporaryDirectory directory("cli-test");
  const std::string file = (directory.path() / "a.db").string();
  RunConfig config;
  config.prompts = (directory.path() / "prompts").string();
  config.tasks = {"axpy"};
  {
    store::RunStore store(file, store::RunStore::Mode::ReadWrite);
    const store::RowId id =
        store.create_run("mine", config_to_json(config), nlohmann::json::object());
    store.set_run_status(id, "interrupted");
  }
  write_bad_template(config.prompts);
  const Output refused = run({"resume", "mine", "--store", file, "--trust-store"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("question_improve.md:2: unknown placeholder"));
  const store::RunStore store(file, store::RunStore::Mode::ReadOnly);
  EXPECT_EQ(store.runs().front().status, "interrupted");
}

TEST(Cli, ARunIsNotResumedWithOtherTemplates) {
  const TemporaryDirectory directory("cli-test");
  const std::string file = (directory.path() / "a.db").string();
  RunConfig config;
  config.prompts = (directory.path() / "prompts").string();
  config.tasks = {"axpy"};
  std::filesystem::create_directory(config.prompts);
  const tasks::Task task = tasks::find_task(tasks::find_catalogue(), "axpy");
  {
    store::RunStore store(file, store::RunStore::Mode::ReadWrite);
    nlohmann::json stored = config_to_json(config);
    stored["resolved"] = {{"tasks", {{"axpy", task.digest}}},
                          {"prompts", nlohmann::json::object()}};
    store.set_run_status(store.create_run("mine", stored, nlohmann::json::object()), "interrupted");
  }
  write_file_atomic(std::filesystem::path(config.prompts) / "question_improve.md", "Other.\n");
  const Output refused = run({"resume", "mine", "--store", file, "--trust-store"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("have changed since run 'mine' began"));
}

TEST(Cli, ItsReferenceNamesEveryCommandAndOption) {
  const Output man = run({"_reference", "man"});
  EXPECT_EQ(man.code, 0);
  const Output bash = run({"completion", "bash"});
  EXPECT_EQ(bash.code, 0);
  for (const char* text : {".SS tasks selftest", "\\-\\-require\\-isolation", ".SH EXIT STATUS"}) {
    EXPECT_THAT(man.out, HasSubstr(text));
  }
  for (const char* text :
       {"|\"tasks selftest\"|", "commands=\"list show template new import selftest\"",
        "\" --log-level\") known=\"trace debug info warn error off\""}) {
    EXPECT_THAT(bash.out, HasSubstr(text));
  }
  const Output zsh = run({"completion", "zsh"});
  for (const std::string& text : {bash.out, zsh.out}) {
    EXPECT_THAT(text, HasSubstr("\"run --strategy\") known=\""));
    EXPECT_THAT(text, HasSubstr("\"run --task\") known=\"$(winnow completion tasks"));
    EXPECT_THAT(text, HasSubstr("\"eval\") commands=\"$(winnow completion tasks"));
  }
  EXPECT_THAT(run({"completion", "tasks"}).out, HasSubstr("\nrow_softmax\n"));
  for (const std::string& text : {man.out, bash.out, run({"--help"}).out}) {
    EXPECT_THAT(text, testing::Not(HasSubstr("_reference")));
  }
}

TEST(Cli, ATaskWithAModuleAsItsReference) {
  const TemporaryDirectory directory("cli-test");
  const std::filesystem::path folder = directory.path() / "module" / "softmax";
  std::filesystem::create_directories(folder.parent_path());
  std::filesystem::copy(std::filesystem::path(WINNOW_SOURCE_DIR) /
                            "tasks/catalogue/reduction/row_softmax",
                        folder, std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder / "reference.cu");
  const std::string toml = read_file(folder / "task.toml", 1U << 20U);
  write_file_atomic(folder / "task.toml", tasks::module_toml(toml));
  const Output shown = run({"tasks", "show", folder.string()});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("reference: the module in reference.py, in evaluation mode, in "
                                   "float64\n"));
  EXPECT_THAT(shown.out, testing::Not(HasSubstr("speedups:"))) << "it has a baseline.cu";
}

TEST(Cli, ANumberBelowZeroIsNamed) {
  const Output output = run({"leaderboard", "--top", "-1"});
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.err, HasSubstr("--top: expected a number of at least 0, not -1"));
  EXPECT_THAT(run({"lab", "compare", "--dollars", "0"}).err,
              HasSubstr("--dollars: expected a number above 0, not 0"));
  EXPECT_THAT(run({"bench", "smoke", "--model", "openai/m", "--calls", "0"}).err,
              HasSubstr("--calls 0: expected a whole number from 1 to"));
}

TEST(Cli, HelpIsAsWideAsTheTerminal) {
  for (const std::size_t columns : {60U, 80U, 120U}) {
    setenv("COLUMNS", std::to_string(columns).c_str(), 1);
    for (const char* command : {"run", "eval", "profile", "leaderboard", "reverify", "baseline"}) {
      const Output help = run({command, "--help"});
      for (const std::string_view line : split_lines(help.out)) {
        EXPECT_LE(display_width(line), columns) << line;
      }
    }
  }
  unsetenv("COLUMNS");
  EXPECT_THAT(run({"leaderboard", "--help"}).out,
              HasSubstr("  --device TEXT               only this device: cpu, cuda or hip\n"));
}

TEST(Cli, VersionIsAResult) {
  const Output version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::StartsWith("winnow "));
}

struct Misuse {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(Cli, ACommandIsAddedByItsNameAlone) {
  for (const NamedCommand& command : kCommands) {
    CLI::App app;
    Action chosen;
    command.add(app, chosen);
    const auto added = app.get_subcommands([](const CLI::App*) { return true; });
    ASSERT_EQ(added.size(), 1);
    EXPECT_EQ(added.front()->get_name(), command.name);
  }
}

TEST(Cli, AnOptionThatNobodyHasThoughtOfExcludesAServer) {
  const std::map<std::string, std::set<std::string>> taken{
      {"eval", {"no-timing", "no-reuse", "time-budget", "brief", "json"}},
      {"profile",
       {"param", "against", "against-param", "counters", "no-energy", "time-budget", "json"}},
      {"race", {"param-a", "param-b", "time-budget", "json"}},
      {"tune", {"output", "max-variants", "json"}}};
  CLI::App app;
  Action chosen;
  for (const NamedCommand& command : kCommands) {
    command.add(app, chosen);
  }
  for (const auto& [command, options] : taken) {
    const CLI::App* sub = app.get_subcommand(command);
    const std::set<CLI::Option*>& here_only = sub->get_option("--server")->get_excludes();
    std::set<std::string> found;
    for (const CLI::Option* option : sub->get_options()) {
      if (!option->get_lnames().empty() && !here_only.contains(const_cast<CLI::Option*>(option))) {
        found.insert(option->get_lnames().front());
      }
    }
    for (const char* of_all : {"help", "server", "token-file"}) {
      found.erase(of_all);
    }
    EXPECT_EQ(found, options) << command;
  }
}

TEST(Cli, MisuseIsExplainedWithTheNearestMatch) {
  const Misuse misuses[] = {
      {{"docter"}, "unknown command 'docter'; did you mean 'doctor'?"},
      {{"tasks", "lst"}, "unknown command 'lst'; did you mean 'list'?"},
      {{"eval", "--devise", "cpu", "axpy", "f.cu"}, "did you mean '--device'?"},
      {{"eval", "--devise=cpu", "axpy", "f.cu"}, "unknown option '--devise'"},
      {{"run", "--log-levle", "info"}, "did you mean '--log-level'?"},
      {{"eval", "axpy"}, "FILE is required"},
      {{"leaderboard", "--format", "xml"}, "--format"},
      {{"leaderboard", "--format", "csv", "--json"}, "excludes"},
      {{"eval", "--device", "cpu", "--server", "s", "--", "axpy", "f.cu"},
       "--device excludes --server"},
      {{}, "subcommand is required"},
      {{"export"}, "FORMAT is required"},
      {{"export", "tarining"}, "unknown format 'tarining'; did you mean 'training'?"},
      {{"export", "xml"}, "md, recording, kernel, "},
      {{"eval", "--seed", "x", "axpy", "f.cu"}, "--seed"},
      {{"eval", "--seed", "0", "axpy", "f.cu"}, "--seed: Value 0 not in range 1 to"},
      {{"--log-level", "loud", "doctor"}, "--log-level"},
  };
  for (const Misuse& misuse : misuses) {
    const Output output = run(misuse.arguments);
    EXPECT_EQ(output.code, to_int(ExitCode::Usage)) << misuse.message;
    EXPECT_THAT(output.err, HasSubstr(misuse.message));
    EXPECT_THAT(output.err, HasSubstr("--help"));
    EXPECT_EQ(output.out.empty(), !contains(misuse.arguments, "--json"));
  }
}

TEST(Cli, AConfigMistakeIsAUsageError) {
  const TemporaryDirectory directory("cli-test");
  const auto file = directory.path() / "bad.toml";
  write_file_atomic(file, "[run]\nproposal = 1\n");
  const Output output = run({"run", file.string()});
  EXPECT_EQ(output.code, to_int(ExitCode::Usage));
  EXPECT_THAT(output.err, HasSubstr("bad.toml:2:1: unknown key 'proposal'"));
}

TEST(Cli, ALimitThatCannotBeIsNamedAsItWasGiven) {
  const TemporaryDirectory directory("cli-test");
  const auto file = directory.path() / "my.toml";
  write_file_atomic(file, "");
  const Output option = run({"run", file.string(), "--max-calls", "-1"});
  EXPECT_EQ(option.code, to_int(ExitCode::Usage));
  EXPECT_THAT(option.err, HasSubstr("--max-calls -1: expected"));
  const Output key = run({"run", file.string(), "--set", "limits.calls=-1"});
  EXPECT_THAT(key.err, HasSubstr("limits.calls=-1: expected"));
}

class CliRuns : public testing::Test {
protected:
  CliRuns() { add_run("first", "axpy/0/0"); }

  void add_run(const std::string& name, const std::string& key) {
    store::RunStore store(file_, store::RunStore::Mode::ReadWrite);
    tasks::Task task;
    task.name = "axpy";
    task.digest = "0";
    const store::RowId run = store.create_run(name, nullptr, nullptr);
    const store::RowId call =
        store.begin_call(run, store.add_task(task), key, "replay", "m", nlohmann::json::object());
    store::ModelCallRow outcome;
    outcome.status = "ok";
    outcome.text = "of " + name;
    store.finish_call(call, outcome);
  }

  Output winnow(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", file_.string()});
    return run(arguments);
  }

  TemporaryDirectory directory_{"cli-test"};
  std::filesystem::path file_ = directory_.path() / "store.db";
};

TEST_F(CliRuns, AreNamedByNameOrNumber) {
  for (const char* name : {"first", "1"}) {
    EXPECT_EQ(winnow({"leaderboard", "--run", name}).code, 0) << name;
    EXPECT_THAT(winnow({"export", "json", "--run", name}).out, HasSubstr("\"first\"")) << name;
  }
  for (const char* command : {"leaderboard", "export"}) {
    std::vector<std::string> arguments{command, "--run", "firs"};
    if (std::string(command) == "export") {
      arguments.insert(arguments.begin() + 1, "csv");
    }
    const Output typo = winnow(arguments);
    EXPECT_EQ(typo.code, to_int(ExitCode::Usage)) << command;
    EXPECT_THAT(typo.err, HasSubstr("did you mean 'first'?")) << command;
  }
}

TEST_F(CliRuns, TheOnlyRunIsTheOneWhoseRecordingIsExported) {
  EXPECT_THAT(winnow({"export", "recording"}).out, HasSubstr("of first"));
  add_run("second", "axpy/0/0");
  const Output which = winnow({"export", "recording"});
  EXPECT_EQ(which.code, to_int(ExitCode::Usage));
  EXPECT_THAT(which.err, HasSubstr("the store has several runs: first, second"));
  EXPECT_THAT(winnow({"export", "recording", "--run", "2"}).out, HasSubstr("of second"));
}

TEST_F(CliRuns, WithoutACandidateHaveNothingToTrainWith) {
  const std::string output = directory_.path() / "out.jsonl";
  const Output none = winnow({"export", "training", "--output", output});
  EXPECT_EQ(none.code, to_int(ExitCode::Usage));
  EXPECT_THAT(none.err, HasSubstr("store.db has no reply of a model that is asked for"));
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST(Cli, AKernelOnABoardIsJudgedInFull) {
  for (const char* option : {"--no-check", "--no-timing", "--no-promotion", "--seed=1"}) {
    const Output out = run({"eval", "axpy", "a.cu", "--store", "s.db", option});
    EXPECT_EQ(out.code, 2) << option;
    EXPECT_THAT(out.err, HasSubstr("--store needs a full evaluation")) << option;
  }
  EXPECT_THAT(run({"eval", "axpy", "a.cu", "--as", "me"}).err, HasSubstr("--as works only with"));
  EXPECT_THAT(run({"eval", "axpy", "a.cu", "--store", "s.db"}).err, HasSubstr("no such file"));
}

TEST(Cli, ExportHasFormatsAndKernels) {
  EXPECT_THAT(run({"export"}).err, HasSubstr("FORMAT is required"));
  EXPECT_THAT(run({"export", "kernel"}).err, HasSubstr("ID is required"));
  EXPECT_EQ(run({"export", "kernel", "1", "dir", "--store", "none.db"}).code, 2);
}

TEST(Cli, AnExportedKernelThatIsNotCorrectSaysSo) {
  store::testing::TestStore t;
  t.add("axpy/0/0",
        "/*@winnow\n{\"params\": {\"BLOCK\": [128], \"VEC\": [4]}, \"launches\": [{\"kernel\": "
        "\"k\", \"grid\": [\"n\"], \"block\": [\"BLOCK\"], \"args\": [\"y\"]}]}\n@*/\n"
        "__global__ void k(float* y) {}\n",
        {store::testing::wrong_evaluation()});
  const std::filesystem::path folder = t.directory.path() / "kernel";
  const Output exported =
      run({"export", "kernel", "1", folder.string(), "--store", t.path.string()});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(exported.err,
              HasSubstr("warning: candidate 1 is not correct: wrong (gives wrong values)"));
  EXPECT_THAT(read_file(folder / "kernel.cu", 1 << 20),
              HasSubstr("// Verdict: the kernel is not correct"));
}

TEST(Cli, ATemplateIsAKernelFile) {
  EXPECT_THAT(run({"tasks", "template", "axpy"}).out, HasSubstr("/*@winnow\n"));
  EXPECT_EQ(run({"tasks", "template", "axpy", "/dev/null"}).code, 2); // exists already
}

TEST(Cli, AMissingStoreIsAUsageError) {
  const Output output = run({"leaderboard", "--store", "/nonexistent/x.db"});
  EXPECT_EQ(output.code, to_int(ExitCode::Usage));
  EXPECT_THAT(output.err, HasSubstr("/nonexistent/x.db: no such store"));
}

TEST(Cli, AFilterThatTheStoreDoesNotHaveIsAUsageError) {
  const TemporaryDirectory directory("cli-test");
  const std::string file = directory.path() / "empty.db";
  store::RunStore(file, store::RunStore::Mode::ReadWrite)
      .create_run("first", nlohmann::json::object(), nlohmann::json::object());
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"leaderboard"}, {"export", "csv"}, {"reverify"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--store", file, "--task", "nope"});
    const Output output = run(arguments);
    EXPECT_EQ(output.code, to_int(ExitCode::Usage));
    EXPECT_THAT(output.err, HasSubstr("no task 'nope' in the store"));
    EXPECT_EQ(output.out, "");
  }
  const Output nobody = run({"leaderboard", "--store", file});
  EXPECT_EQ(nobody.code, 0);
  EXPECT_THAT(nobody.err, HasSubstr("no correct kernel yet, of 0 candidates"));
}

TEST(Cli, AStoreThatIsNoDatabaseIsAFailure) {
  const TemporaryDirectory directory("cli-test");
  const auto file = directory.path() / "text.db";
  write_file_atomic(file, std::string(8192, 'x'));
  const Output output = run({"leaderboard", "--store", file.string()});
  EXPECT_EQ(output.code, to_int(ExitCode::Failure));
  EXPECT_THAT(output.err, HasSubstr("text.db"));
}

TEST(Worker, OnlyHiddenSubcommandsAreWorkers) {
  std::string program = "winnow";
  std::string hidden = "_compile";
  std::string plain = "eval";
  char* with_hidden[] = {program.data(), hidden.data(), nullptr};
  char* with_plain[] = {program.data(), plain.data(), nullptr};
  EXPECT_TRUE(evaluators::is_worker(2, with_hidden));
  EXPECT_FALSE(evaluators::is_worker(2, with_plain));
  EXPECT_FALSE(evaluators::is_worker(1, with_plain));
}

TEST(Cli, ServeRefusesWhatIsUnsafeOrUnclear) {
  const TemporaryDirectory directory("serve-cli");
  const std::string store = directory.path() / "s.db";
  const std::string token = directory.path() / "token";
  write_file_atomic(token, "ann short\n", Readers::Owner);
  const std::string open_token = directory.path() / "open token";
  write_file_atomic(open_token, "ann 0123456789abcdef\n");
  const std::string rewards = directory.path() / "rewards";
  write_file_atomic(rewards, "[serve.reward.own]\nsped = 1\n");
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--bind", "0.0.0.0:0"}, "without a token"},
      {{"--bind", "localhost"}, "there is no port"},
      {{"--token-file", token}, "token:1: the token of 'ann' has fewer than 16 characters"},
      {{"--token-file", open_token}, "other users may use it: its mode is 0644"},
      {{"--token-env", "WINNOW_NO_SUCH_VARIABLE"}, "is not set"},
      {{"--judge", "--reward", "fame"}, "--reward: there is no reward 'fame'"},
      {{"--judge", "--config", rewards}, "rewards:2:1: unknown key 'sped' in [serve.reward.own]"},
      {{"--judge", "--config", directory.path() / "no such"}, "--config"},
      {{"--judge", "--seed", "7", "--seed-from-batch"}, "excludes"},
      {{"--judge", "--task", directory.path() / "none", "--device", "cpu"}, "none"},
      {{"--queue", "5"}, "--judge"}};
  for (const auto& [options, expected] : cases) {
    std::vector<std::string> arguments = {"serve", "--store", store};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Output output = run(arguments);
    EXPECT_EQ(output.code, 2) << expected;
    EXPECT_THAT(output.err, HasSubstr(expected));
  }
  EXPECT_EQ(run({"serve", "--judge"}).code, 2);
}

} // namespace
} // namespace winnow::harness
