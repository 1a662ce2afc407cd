#pragma once

#include "harness/mcp/command_runner.h"

#include <chrono>
#include <cstddef>
#include <filesystem>

namespace winnow::harness {

/// Runs each command as a child, so that a crash costs one call. The child has the environment and
/// the working directory of this process, and ends with it.
class ChildCommands : public CommandRunner {
public:
  struct Limits {
    std::size_t output_bytes = std::size_t{2} << 20U; ///< of stdout and of stderr
    /// From SIGINT, which asks a command to end, to SIGKILL. A client that closes the server waits
    /// two seconds before it kills.
    std::chrono::milliseconds grace{1000};
  };
  /// `first`: arguments before those of each call.
  explicit ChildCommands(std::filesystem::path program, std::vector<std::string> first)
      : ChildCommands(std::move(program), std::move(first), Limits{}) {}
  ChildCommands(std::filesystem::path program, std::vector<std::string> first, Limits limits);

  CommandResult run(const std::vector<std::string>& arguments, const CommandWatch& watch) override;

private:
  std::filesystem::path program_;
  std::vector<std::string> first_;
  Limits limits_;
};

} // namespace winnow::harness
