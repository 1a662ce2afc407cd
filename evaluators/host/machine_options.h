#pragma once

#include "process/sandbox.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace winnow::evaluators {

/// Describes the child process that an evaluation waits for.
struct Waiting {
  std::string file;                   ///< the kernel file; empty: the reference
  std::string what;                   ///< "runs the tiny shapes"
  std::chrono::milliseconds limit{0}; ///< the child is ended after this time
};

/// How this machine evaluates.
struct MachineOptions {
  std::string device = "best";
  std::optional<process::Isolation> require_isolation;
  std::chrono::milliseconds compile_timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::filesystem::path cache; ///< empty: cache_directory()
  std::string precheck;        ///< a command that checks every kernel file first; empty: none
  /// Called on the evaluation's thread before it waits for a compiler, a worker or the judge.
  std::function<void(const Waiting&)> waiting;
};

} // namespace winnow::evaluators
