#pragma once

#include "base/availability.h"
#include "evaluators/device/module.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// A C++ compiler that builds CPU modules, and its linker.
struct Toolchain {
  std::filesystem::path compiler;
  std::filesystem::path linker;
  /// Binds math functions to their current versions; may be empty.
  std::filesystem::path libm;
  /// Arithmetic that compilers leave to a library; may be empty.
  std::filesystem::path libgcc;
  bool clang = false;
  std::string version; ///< "clang++ 14.0.6"
};

struct ToolchainProbe {
  std::optional<Toolchain> toolchain;
  Availability availability;
};

/// Searches for `name` (clang++, g++ or a path) and ld, and asks the compiler for its version.
ToolchainProbe probe_toolchain(const std::string& name);

/// The compiler's arguments except input, output and include directories. Part of the cache key.
std::vector<std::string> compile_flags(const Toolchain& toolchain, BuildMode mode, bool fast_math);
/// `precompiled` comes from precompiled_headers() and may be empty.
std::vector<std::string>
compile_command(const Toolchain& toolchain, const std::vector<std::string>& flags,
                const std::filesystem::path& headers, const std::filesystem::path& precompiled,
                const std::filesystem::path& source, const std::filesystem::path& object);
std::vector<std::string> link_command(const Toolchain& toolchain, BuildMode mode,
                                      const std::filesystem::path& object,
                                      const std::filesystem::path& module);

/// The names for --wrap in check mode: `__tsan_*`, memcpy and so on.
std::vector<std::string> wrapped_symbols();

} // namespace winnow::evaluators
