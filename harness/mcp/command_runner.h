#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// What a command of the program left behind.
struct CommandResult {
  int exit_code = -1;
  std::string out, err;
  std::string failure;    ///< why it did not end by itself: "killed by SIGSEGV"; empty: it did
  bool cancelled = false; ///< as CommandWatch::goes_on asked
};

/// The caller's eyes on a command that runs.
struct CommandWatch {
  std::function<bool()> goes_on;                   ///< asked often; false: end the command
  std::function<void(std::string_view line)> line; ///< each line of stdout, as it comes
};

/// Runs commands of the program; several threads may ask at the same time.
class CommandRunner {
public:
  CommandRunner() = default;
  virtual ~CommandRunner() = default;
  CommandRunner(const CommandRunner&) = delete; // a base class that is used through references
  CommandRunner& operator=(const CommandRunner&) = delete;

  /// `arguments`: without the program's name. Throws Error if the command cannot be started.
  virtual CommandResult run(const std::vector<std::string>& arguments,
                            const CommandWatch& watch) = 0;
};

} // namespace winnow::harness
