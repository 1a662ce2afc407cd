#pragma once

#include "evaluators/device/compile/compile_answer.h"
#include "evaluators/device/cpu/compile/toolchain.h"
#include "evaluators/device/module.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The coordinator's message to a `_compile` child: one JSON text on stdin.
struct CompileJob {
  CompileRequest request;
  Toolchain toolchain;
  std::filesystem::path headers;     ///< directory with cpu/ and common/
  std::filesystem::path precompiled; ///< of precompiled_headers(); may be empty
  std::filesystem::path directory;   ///< writable; the module is written there as kModuleName
  std::chrono::milliseconds timeout{20'000};
  std::uint64_t memory_bytes = 0;
};

constexpr const char* kModuleName = "module.so";

std::string encode(const CompileJob& job);
CompileJob decode_compile_job(const std::string& text); ///< throws Error

/// For the child, after enter_sandbox(): source pass, compiler, linker, checks of the module.
CompileAnswer compile_job(const CompileJob& job);

} // namespace winnow::evaluators
