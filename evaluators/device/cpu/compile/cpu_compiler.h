#pragma once

#include "base/availability.h"
#include "evaluators/device/compiler.h"
#include "process/sandbox.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

struct CpuCompilerOptions {
  std::filesystem::path cache; ///< directory for modules
  std::chrono::milliseconds timeout{20'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::string compiler; ///< "clang++", "g++" or a path; empty: Winnow chooses
};

/// Compiles modules for make_cpu_device() in a fenced `_compile` child. Throws Error when no
/// compiler works.
std::unique_ptr<Compiler> make_cpu_compiler(process::Sandbox sandbox, CpuCompilerOptions options);

/// Whether `name` (clang++, g++) with ld can build CPU modules. Its detail: version and path.
Availability probe_cpu_compiler(const std::string& name);

/// Entry point of the hidden subcommand `_compile`.
int compile_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
