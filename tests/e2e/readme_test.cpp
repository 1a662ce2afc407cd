// Every `winnow` command in the README does what it says.
#include "base/files.h"
#include "base/text.h"
#include "tests/e2e/winnow_program.h"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::test {
namespace {

constexpr std::string_view kProgram = "build/release/winnow ";

std::vector<std::vector<std::string>> readme_commands() {
  const std::string readme = read_file(project_folder() / "README.md", 1U << 20U);
  std::vector<std::vector<std::string>> commands;
  for (const std::string_view line : split_lines(readme)) {
    if (line.substr(0, kProgram.size()) == kProgram) {
      std::istringstream words{std::string(line.substr(kProgram.size()))};
      commands.emplace_back();
      for (std::string word; words >> word;) {
        commands.back().push_back(word);
      }
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

  const auto commands = readme_commands();
  EXPECT_GE(commands.size(), 8U);
  for (std::vector<std::string> command : commands) {
    const std::string text = join(command, " ");
    const bool needs_gpu = text.find("--device cuda") != std::string::npos;
    const bool needs_model =
        command.front() == "run" || command.front() == "batch" || text.starts_with("models test");
    if (needs_model || needs_gpu) { // that the options exist
      command.emplace_back("--help");
    }
    for (std::size_t i = 0; i + 1 < command.size(); ++i) {
      if (command[i] == "--output") {
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
