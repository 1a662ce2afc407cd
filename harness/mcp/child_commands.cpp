#include "harness/mcp/child_commands.h"

#include "process/child_process.h"

#include <csignal>
#include <map>
#include <optional>
#include <utility>

#include <unistd.h>

namespace winnow::harness {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook{20}; // how often a running command is looked at

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return variables;
}

/// A command from its start to its end.
class RunningCommand {
public:
  RunningCommand(const process::Command& command, milliseconds grace, const CommandWatch& watch)
      : child_(command), most_bytes_(command.limits.output_bytes), grace_(grace), watch_(watch) {
    child_.close_stdin();
  }

  CommandResult result() {
    read_lines();
    const process::ChildResult end = child_.wait([this] { return is_over(); });
    CommandResult result;
    result.exit_code = end.exit_code;
    result.out = std::move(out_) + end.out;
    result.err = end.err;
    result.cancelled = asked_.has_value();
    if (end.end != process::ChildResult::End::Exited) {
      result.failure = too_much_ ? "printed too much" : process::describe(end);
    }
    return result;
  }

private:
  /// Until the command has ended or has closed its stdout.
  void read_lines() {
    while (!is_over()) {
      const Clock::time_point begin = Clock::now();
      if (const auto line = child_.read_line(kLook)) {
        out_ += *line + "\n";
        watch_.line(*line);
      } else if (Clock::now() - begin < kLook) {
        return;
      }
    }
  }
  /// Whether the command must be killed. Asks it to end before that.
  bool is_over() {
    too_much_ = too_much_ || out_.size() > most_bytes_;
    if (!asked_ && !watch_.goes_on()) {
      ::kill(-child_.pid(), SIGINT); // it leads a group of its own, and was not waited for
      asked_ = Clock::now();
    }
    return too_much_ || (asked_ && Clock::now() - *asked_ > grace_);
  }

  process::ChildProcess child_;
  std::size_t most_bytes_;
  milliseconds grace_;
  const CommandWatch& watch_;
  std::string out_;
  std::optional<Clock::time_point> asked_; ///< when the command was asked to end
  bool too_much_ = false;
};

} // namespace

ChildCommands::ChildCommands(std::filesystem::path program, std::vector<std::string> first,
                             Limits limits)
    : program_(std::move(program)), first_(std::move(first)), limits_(limits) {}

CommandResult ChildCommands::run(const std::vector<std::string>& arguments,
                                 const CommandWatch& watch) {
  process::Command command;
  command.argv = {program_.string()};
  command.argv.insert(command.argv.end(), first_.begin(), first_.end());
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = own_environment();
  command.working_directory = std::filesystem::current_path();
  command.limits.wall = milliseconds{0};
  command.limits.output_bytes = limits_.output_bytes;
  return RunningCommand(command, limits_.grace, watch).result();
}

} // namespace winnow::harness
