// Every command that prints what stands in a store, on a terminal, with a store whose texts hold
// escape sequences, C1 controls, marks of direction and characters without a width.
#include "base/files.h"
#include "tests/e2e/finished_run.h"
#include "tests/e2e/winnow_program.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "\x1b]0;title\x07\x1b[2J\u009b31m\u202egnp\u200b\r";

/// What the program writes to a terminal.
std::string on_terminal(const std::vector<std::string>& arguments) {
  const process::Command command = winnow_command(arguments);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(terminal) + unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  std::vector<std::string> variables;
  for (const auto& [variable, value] : command.environment) {
    variables.push_back(variable + "=" + value);
  }
  std::vector<char*> argv, environment;
  for (const std::string& argument : command.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  for (const std::string& variable : variables) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  const std::string folder = command.working_directory.string();
  const pid_t child = fork();
  if (child == 0) {
    const int end = open(name.c_str(), O_RDWR | O_NOCTTY);
    const bool ready =
        chdir(folder.c_str()) == 0 && dup2(end, 0) == 0 && dup2(end, 1) == 1 && dup2(end, 2) == 2;
    if (ready) {
      execve(argv[0], argv.data(), environment.data());
    }
    _exit(127);
  }
  std::string output;
  std::array<char, 4096> buffer{};
  const int own_end =
      open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC); // until the child has ended
  int status = 0;
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  for (bool has_ended = false;;) {
    const ssize_t size = read(terminal, buffer.data(), buffer.size());
    if (size > 0) {
      output.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (has_ended) {
      break;
    } else {
      has_ended = waitpid(child, &status, WNOHANG) == child;
      usleep(2000);
    }
  }
  close(own_end);
  close(terminal);
  return output;
}

/// Appends the hostile text to texts that models, workers and files have given.
void poison(const std::string& store) {
  SQLite::Database database(store, SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON");
  for (const char* column :
       {"candidates.model", "model_calls.model", "model_calls.reply", "model_calls.finish_reason",
        "model_calls.request_id", "model_calls.error", "kernel_files.text", "builds.log",
        "evaluations.detail", "evaluations.worker", "evaluations.unranked", "evaluations.isolation",
        "prompts.text", "events.kind", "tasks.name", "runs.name", "sitting_rows.detail",
        "sittings.device_name"}) {
    const std::string text = column;
    const std::string table = text.substr(0, text.find('.')), name = text.substr(table.size() + 1);
    try {
      SQLite::Statement update(database, fmt::format("UPDATE {0} SET {1} = {1} || ?", table, name));
      update.bind(1, kHostile);
      update.exec();
    } catch (const SQLite::Exception&) {
      // A column of another name or a check: the other columns do.
    }
  }
  SQLite::Statement update(database, "UPDATE runs SET config = json_set(config, "
                                     "'$.endpoint.model', ?, '$.endpoint.base_url', ?)");
  update.bind(1, kHostile);
  update.bind(2, kHostile);
  update.exec();
}

void expect_harmless(const std::string& output) {
  std::string text = output;
  const std::string erase = "\r\x1b[K"; // Winnow's own
  for (std::size_t at = text.find(erase); at != std::string::npos; at = text.find(erase)) {
    text.erase(at, erase.size());
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\x8b")));
}

TEST(HostileStore, SendsNothingToATerminal) {
  const TemporaryDirectory folder("hostile");
  const std::string store = folder.path() / "hostile.db";
  std::filesystem::copy_file(finished_run().store, store);
  poison(store);
  int shown = 0;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"leaderboard"},
           {"leaderboard", "--json"},
           {"leaderboard", "--format", "csv"},
           {"leaderboard", "--format", "md"},
           {"show", "3"},
           {"show", "3", "--source"},
           {"show", "3", "--reply"},
           {"show", "3", "--prompt"},
           {"show", "3", "--plan"},
           {"show", "3", "--log"},
           {"show", "3", "--samples"},
           {"show", "3", "--json"},
           {"show", "no such candidate" + kHostile},
           {"diff", "3", "4"},
           {"roles", "1"},
           {"export", "json"},
           {"export", "csv"},
           {"export", "md"},
           {"export", "recording", "--run", "1"},
           {"export", "kernel", "3", folder.path() / "kernel"},
           {"export", "training"},
           {"resume", "1"},
           {"resume", "no such run" + kHostile},
           {"batch", "export", "--run", "1", "-o", folder.path() / "requests"},
           {"reverify"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--store", store});
    SCOPED_TRACE(testing::PrintToString(command));
    const std::string output = on_terminal(arguments);
    EXPECT_NE(output, "") << "of every command";
    expect_harmless(output);
    shown += output.find("\\u001b") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(shown, 10) << "the texts are shown, not left out";
}

} // namespace
} // namespace winnow::test
