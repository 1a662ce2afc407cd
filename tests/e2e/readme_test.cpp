// Every `winnow` command in README.md and docs/commands.md works.
#include "base/files.h"
#include "base/text.h"
#include "tests/e2e/winnow_program.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::test {
namespace {

constexpr std::string_view kProgram = "build/release/winnow ";

/// The commands of one page, each split into words.
std::set<std::vector<std::string>> commands_of(const char* page) {
  const std::string text = read_file(project_folder() / page, 1U << 20U);
  std::set<std::vector<std::string>> commands;
  for (const std::string_view line : split_lines(text)) {
    if (line.substr(0, kProgram.size()) == kProgram) {
      std::istringstream words{std::string(line.substr(kProgram.size()))};
      std::vector<std::string> command;
      for (std::string word; words >> word;) {
        command.push_back(word);
      }
      commands.insert(command);
    }
  }
  return commands;
}

TEST(Readme, ItsCommandsWork) {
  const TemporaryDirectory directory("readme");
  ProgramOptions options;
  options.environment["WINNOW_STORE"] = directory.path() / "store.db";
  const ProgramResult run = run_winnow(
      {"run", "configs/quickstart.toml", "--store", options.environment["WINNOW_STORE"], "--set",
       "run.tasks=[\"axpy\"]", "--set", "run.proposals=1", "--set", "evaluation.time_budget=20ms"});
  ASSERT_EQ(run.exit_code, 0) << run.err;

  auto commands = commands_of("docs/commands.md");
  EXPECT_GE(commands.size(), 8U);
  auto readme = commands_of("README.md");
  EXPECT_FALSE(readme.empty());
  commands.merge(readme); // a command on both pages is run once
  for (std::vector<std::string> command : commands) {
    const std::string text = join(command, " ");
    const bool needs_gpu = text.find("--device cuda") != std::string::npos;
    const bool needs_model =
        command.front() == "run" || command.front() == "batch" || text.starts_with("models test");
    const bool never_ends = command.front() == "serve";
    if (needs_model || needs_gpu || never_ends) { // that the options exist
      command.emplace_back("--help");
    } else if (command.front() == "profile" || command.front() == "race") { // half a second a shape
      command.insert(command.end(), {"--time-budget", "50ms"});
    } else if (command.front() == "tune") { // 27 choices
      command.insert(command.end(), {"--time-budget", "10ms", "--max-variants", "4"});
    }
    for (std::size_t i = 0; i + 1 < command.size(); ++i) {
      if (command[i] == "--output" || command[i] == "-o") {
        command[i + 1] = directory.path() / command[i + 1];
      }
    }
    const ProgramResult result = run_winnow(command, options);
    const bool is_wrong_kernel = text.find("tests/buggy/") != std::string::npos;
    EXPECT_EQ(result.exit_code, is_wrong_kernel ? 10 : 0) << text << "\n" << result.err;
  }
}

} // namespace
} // namespace winnow::test
