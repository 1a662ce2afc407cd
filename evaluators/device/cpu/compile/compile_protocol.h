#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/cpu/compile/toolchain.h"
#include "evaluators/device/module.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace winnow::evaluators {

/// The coordinator's message to a `_compile` child: one JSON text on stdin.
struct CompileJob {
  CompileRequest request;
  Toolchain toolchain;
  std::filesystem::path headers;     ///< directory with cpu/ and common/
  std::filesystem::path precompiled; ///< of precompiled_headers(); may be empty
  std::filesystem::path directory;   ///< writable, for the files of compiler and linker
  std::chrono::milliseconds timeout{20'000};
  std::uint64_t memory_bytes = 0;
};

std::string encode(const CompileJob& job);
CompileJob decode_compile_job(const std::string& text); ///< throws Error

/// For the child, after enter_sandbox(): source pass, compiler, linker, checks of the module.
CompiledModule compile_job(const CompileJob& job);

} // namespace winnow::evaluators
