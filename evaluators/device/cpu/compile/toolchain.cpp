#include "evaluators/device/cpu/compile/toolchain.h"

#include "base/text.h"
#include "evaluators/device/cpu/compile/tsan_symbols.h"
#include "process/child_process.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kProbeTimeout{10};
constexpr int kOldestClang = 14;
constexpr int kOldestGcc = 11;

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? fs::absolute(name) : fs::path();
  }
  const char* path = std::getenv("PATH");
  const std::string directories = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const fs::path candidate = fs::path(directories.substr(begin, end - begin)) / name;
    // Directories of ccache and distcc come first and have links with the compilers' names. These
    // wrappers need a home directory, so skip them.
    const bool wrapper = fs::path(directories.substr(begin, end - begin)).filename() == "ccache";
    if (!wrapper && candidate.is_absolute() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    begin = end + 1;
  }
  return {};
}

fs::path find_libm() {
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6",
                           "/lib64/libm.so.6", "/usr/lib/libm.so.6"}) {
    if (access(path, R_OK) == 0) {
      return path;
    }
  }
  return {};
}

ToolchainProbe unavailable(std::string why, std::string remedy) {
  return {std::nullopt, Availability::no(std::move(why), std::move(remedy))};
}

// "Debian clang version 14.0.6" -> "14.0.6"; "g++ (Debian 12.2.0-14) 12.2.0" -> "12.2.0".
std::string version_number(const std::string& banner, bool clang) {
  const std::string line(split_lines(banner).empty() ? "" : split_lines(banner).front());
  std::size_t at = clang ? line.find("version ") : line.rfind(' ');
  at = at == std::string::npos ? line.size() : at + (clang ? 8 : 1);
  const std::size_t end = line.find_first_not_of("0123456789.", at);
  return line.substr(at, end == std::string::npos ? end : end - at);
}

bool supports_x86_64_v3() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}

// Asks each question once, because clang++ takes 25 ms for an answer, and every command looks for
// the compilers several times.
process::ChildResult ask_compiler(const fs::path& compiler, std::vector<std::string> options) {
  static std::mutex mutex;
  static std::map<std::vector<std::string>, process::ChildResult> answers;
  const std::lock_guard lock(mutex);
  options.insert(options.begin(), compiler.string());
  if (const auto known = answers.find(options); known != answers.end()) {
    return known->second;
  }
  process::Command command;
  command.argv = options;
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}};
  command.limits.wall = kProbeTimeout;
  process::ChildResult result = process::run_child(command, "");
  if (result.end == process::ChildResult::End::Exited && result.exit_code == 0) {
    answers.emplace(options, result);
  }
  return result;
}

/// Asks for the path of libgcc; clang++ says its version, too, in the same 25 ms.
process::ChildResult ask_for_libgcc(const fs::path& compiler) {
  return ask_compiler(compiler, {"-v", "-print-libgcc-file-name"});
}

/// The text with the version: from "clang version" on, or all that g++ says.
process::ChildResult ask_for_version(const fs::path& compiler) {
  process::ChildResult result = ask_for_libgcc(compiler);
  if (const std::size_t banner = result.err.find("clang version"); banner != std::string::npos) {
    result.out = result.err.substr(banner);
    return result;
  }
  return ask_compiler(compiler, {"--version"});
}

fs::path find_libgcc(const fs::path& compiler) {
  const std::string path(trim(ask_for_libgcc(compiler).out));
  return access(path.c_str(), R_OK) == 0 ? fs::path(path) : fs::path();
}

} // namespace

ToolchainProbe probe_toolchain(const std::string& name) {
  const std::string install = "install it: apt-get install " +
                              std::string(name == "clang++" ? "clang" : "g++") + " binutils";
  Toolchain toolchain;
  toolchain.compiler = find_program(name);
  if (toolchain.compiler.empty()) {
    return unavailable(name + " was not found in PATH", install);
  }
  toolchain.linker = find_program("ld");
  if (toolchain.linker.empty()) {
    return unavailable("the linker ld was not found in PATH",
                       "install it: apt-get install binutils");
  }
  const process::ChildResult result = ask_for_version(toolchain.compiler);
  if (result.end != process::ChildResult::End::Exited || result.exit_code != 0) {
    return unavailable(toolchain.compiler.string() + " --version " + describe(result), install);
  }
  toolchain.clang = result.out.find("clang version") != std::string::npos;
  const std::string number = version_number(result.out, toolchain.clang);
  const int major = std::atoi(number.c_str());
  const int oldest = toolchain.clang ? kOldestClang : kOldestGcc;
  if (major < oldest) {
    return unavailable(fmt::format("{} is version {}, {} or newer is needed",
                                   toolchain.compiler.string(), number, oldest),
                       install);
  }
  toolchain.version = (toolchain.clang ? "clang++ " : "g++ ") + number;
  toolchain.libm = find_libm();
  toolchain.libgcc = find_libgcc(toolchain.compiler);
  const std::string detail = fmt::format("{} ({}), {}", toolchain.version,
                                         toolchain.compiler.string(), toolchain.linker.string());
  return {toolchain, Availability::yes(detail)};
}

std::vector<std::string> compile_flags(const Toolchain& toolchain, BuildMode mode, bool fast_math) {
  std::vector<std::string> flags{
      "-std=c++17", "-fPIC", "-c", "-w", "-nostdinc", "-nostdinc++",
      // Modules export only their table. The exported kernel must inline into the thread loop.
      "-fvisibility=hidden", "-fno-semantic-interposition", "-fno-exceptions", "-fno-rtti",
      "-fno-asynchronous-unwind-tables", "-ffunction-sections",
      // Device code puns types freely and has no errno. It may use null pointers; g++ 13 takes such
      // code for unreachable. It contracts a * b + c as CUDA does.
      "-fno-strict-aliasing", "-fno-delete-null-pointer-checks", "-fno-math-errno",
      "-fno-trapping-math", "-ffp-contract=fast",
      // Distributions enable these by default, but they call into the host's C library.
      "-fno-stack-protector", "-U_FORTIFY_SOURCE"};
  const auto add = [&](std::initializer_list<const char*> more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  if (supports_x86_64_v3()) {
    add({"-march=x86-64-v3"}); // without FMA instructions, fmaf is a slow library call
  }
  add({"-fcf-protection=none"});
  // Messages go to a model, so they must not quote source lines of any file.
  if (toolchain.clang) {
    add({"-ferror-limit=8", "-fno-caret-diagnostics", "-fno-color-diagnostics",
         "-fbracket-depth=1024"});
  } else {
    add({"-fmax-errors=8", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never",
         "-fno-gnu-unique", "-pipe"});
  }
  if (fast_math) {
    add({"-ffast-math", "-fno-finite-math-only"}); // keeps INFINITY and NAN working
  }
  if (mode == BuildMode::Check) {
    add({"-O1", "-g1", "-fsanitize=thread", "-DWINNOW_CHECK=1"});
    if (toolchain.clang) { // also reports the read in `y[i] += 1`
      add({"-mllvm", "-tsan-compound-read-before-write"});
    }
  } else {
    add({toolchain.clang ? "-O2" : "-O3"}); // g++ 12 vectorises fully only at -O3
  }
  return flags;
}

std::vector<std::string> compile_command(const Toolchain& toolchain,
                                         const std::vector<std::string>& flags,
                                         const fs::path& headers, const fs::path& precompiled,
                                         const fs::path& source, const fs::path& object) {
  std::vector<std::string> command{toolchain.compiler.string()};
  command.insert(command.end(), flags.begin(), flags.end());
  for (const fs::path& directory : {headers / "cpu", headers / "common"}) {
    command.insert(command.end(), {"-isystem", directory.string()});
  }
  if (!precompiled.empty()) {
    command.insert(command.end(), {"-include-pch", precompiled.string()});
  }
  command.insert(command.end(), {"-x", "c++", source.string(), "-o", object.string()});
  return command;
}

std::vector<std::string> link_command(const Toolchain& toolchain, BuildMode mode,
                                      const fs::path& object, const fs::path& module) {
  std::vector<std::string> command{toolchain.linker.string(),
                                   "-shared",
                                   "--build-id=none",
                                   "-z",
                                   "noexecstack",
                                   "-z",
                                   "relro",
                                   "--hash-style=gnu",
                                   object.string()};
  if (mode == BuildMode::Plain) {
    // A helper that no kernel calls is not judged. Check modules keep all sections, because the
    // gaps between arrays must stay.
    command.push_back("--gc-sections");
  }
  if (!toolchain.libgcc.empty()) {
    command.insert(command.end(), {"--exclude-libs=ALL", toolchain.libgcc.string()});
  }
  if (!toolchain.libm.empty()) {
    command.insert(command.end(), {"--as-needed", toolchain.libm.string()});
  }
  if (mode == BuildMode::Check) {
    for (const std::string& symbol : wrapped_symbols()) {
      command.push_back("--wrap=" + symbol);
    }
  }
  command.insert(command.end(), {"-o", module.string()});
  return command;
}

std::vector<std::string> wrapped_symbols() {
  std::vector<std::string> names;
  for (const std::string_view access : kTsanSizedAccesses) {
    for (const int bytes : kTsanAccessBytes) {
      names.push_back(std::string(access) + std::to_string(bytes));
    }
  }
  for (const int bits : kTsanAtomicBits) {
    for (const std::string_view operation : kTsanAtomicOperations) {
      names.push_back(fmt::format("__tsan_atomic{}_{}", bits, operation));
    }
  }
  names.insert(names.end(), std::begin(kTsanOthers), std::end(kTsanOthers));
  return names;
}

} // namespace winnow::evaluators
