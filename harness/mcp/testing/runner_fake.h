#pragma once

#include "harness/mcp/command_runner.h"

#include <mutex>
#include <string>
#include <vector>

namespace winnow::harness::test {

/// Answers each command with what the test has set, or holds commands until they are cancelled.
class RunnerFake : public CommandRunner {
public:
  CommandResult run(const std::vector<std::string>& arguments, const CommandWatch& watch) override;

  CommandResult answer{0, "{}\n", "", "", false};
  std::vector<std::string> lines; ///< that the command prints as it goes
  bool holds = false;             ///< a command ends only when it is cancelled

  std::vector<std::vector<std::string>> commands();
  /// What the file named by the last word of the first command had when the command ran.
  std::string last_file();

private:
  std::mutex mutex_;
  std::vector<std::vector<std::string>> commands_;
  std::string last_file_;
};

} // namespace winnow::harness::test
