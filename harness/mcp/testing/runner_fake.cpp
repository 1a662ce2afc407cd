#include "harness/mcp/testing/runner_fake.h"

#include "base/files.h"

#include <chrono>
#include <thread>

namespace winnow::harness::test {

CommandResult RunnerFake::run(const std::vector<std::string>& arguments,
                              const CommandWatch& watch) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(arguments);
    if (is_file(arguments.back())) {
      last_file_ = read_file(arguments.back(), 1U << 20U);
    }
  }
  for (const std::string& line : lines) {
    watch.line(line);
  }
  CommandResult result = answer;
  while (watch.goes_on() && holds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  result.cancelled = !watch.goes_on();
  return result;
}

std::vector<std::vector<std::string>> RunnerFake::commands() {
  const std::lock_guard lock(mutex_);
  return commands_;
}

std::string RunnerFake::last_file() {
  const std::lock_guard lock(mutex_);
  return last_file_;
}

} // namespace winnow::harness::test
