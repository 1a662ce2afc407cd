#include "process/child_process.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace winnow::process {
namespace {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string in_seconds(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", value);
  return text.data();
}

} // namespace

std::string describe(const ChildResult& result) {
  using End = ChildResult::End;
  switch (result.end) {
  case End::Exited:
    return "exited with " + std::to_string(result.exit_code);
  case End::Signaled:
    return "killed by " + signal_name(result.signal);
  case End::WallTimeout:
    return "still running after " + in_seconds(result.wall_seconds) + " (wall-clock limit)";
  case End::CpuTimeout:
    return "used up its CPU time (ended after " + in_seconds(result.wall_seconds) + ")";
  case End::OutputLimit:
    return "printed more than " + std::to_string(std::max(result.out.size(), result.err.size())) +
           " bytes (output limit)";
  case End::SpawnFailed:
    return "could not be started: " + result.error;
  case End::Cancelled:
    return "cancelled after " + in_seconds(result.wall_seconds);
  }
  return "ended in an unknown way";
}

} // namespace winnow::process
