#include "evaluators/device/cpu/compile/precompiled_headers.h"

#include "base/digest.h"
#include "base/json_dump.h"
#include "base/random_bits.h"
#include "process/child_process.h"

#include <fstream>
#include <system_error>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPrecompileTimeout{20};
constexpr std::uintmax_t kBuildsThatPay = 3;
constexpr std::uintmax_t kAttempts =
    5; // after which it cannot be made, for instance on a full disk

// A precompiled file names its headers by their full paths, so their directory is in the key.
fs::path precompiled_path(const Toolchain& toolchain, const std::vector<std::string>& flags,
                          const fs::path& headers) {
  const nlohmann::json key{{"flags", flags},
                           {"compiler", {toolchain.version, toolchain.compiler.string()}},
                           {"headers", headers.string()}};
  return headers / ("precompiled-" + sha256_hex(json_line(key)).substr(0, 16) + ".pch");
}

// Counts the builds of all processes, because each process of `winnow eval` builds two modules
// only: a file beside the precompiled one grows by a byte for each build.
std::uintmax_t count_build(const fs::path& precompiled) {
  const fs::path count = precompiled.string() + ".builds";
  std::ofstream(count, std::ios::app) << '.';
  std::error_code error;
  const std::uintmax_t builds = fs::file_size(count, error);
  return error ? 0 : builds;
}

bool precompile(const Toolchain& toolchain, const std::vector<std::string>& flags,
                const fs::path& headers, const fs::path& file) {
  // Other threads and processes may make the same file at the same time.
  const fs::path unfinished = file.string() + "." + std::to_string(random_bits());
  process::Command command;
  command.argv = {toolchain.compiler.string()};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  // Without times, the file stays valid in a copy of the cache with the same path.
  command.argv.insert(command.argv.end(), {"-Xclang", "-fno-pch-timestamp"});
  for (const char* tree : {"cpu", "common"}) {
    command.argv.insert(command.argv.end(), {"-isystem", (headers / tree).string()});
  }
  command.argv.insert(
      command.argv.end(),
      {"-x", "c++-header", (headers / "cpu" / "winnow_cpu.h").string(), "-o", unfinished.string()});
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}};
  command.limits.wall = kPrecompileTimeout;
  const process::ChildResult made = process::run_child(command, "");
  std::error_code error;
  if (made.end == process::ChildResult::End::Exited && made.exit_code == 0) {
    fs::rename(unfinished, file, error);
    return !error;
  }
  fs::remove(unfinished, error);
  return false;
}

} // namespace

fs::path precompiled_headers(const Toolchain& toolchain, const std::vector<std::string>& flags,
                             const fs::path& headers) {
  if (!toolchain.clang) { // g++ needs all addresses fixed for its precompiled headers
    return {};
  }
  const fs::path file = precompiled_path(toolchain, flags, headers);
  std::error_code error;
  if (fs::exists(file, error)) {
    return file;
  }
  const std::uintmax_t builds = count_build(file);
  const bool pays = builds >= kBuildsThatPay && builds < kBuildsThatPay + kAttempts;
  return pays && precompile(toolchain, flags, headers, file) ? file : fs::path();
}

bool may_blame_precompiled_headers(const std::string& messages) {
  for (const char* text : {"PCH", "AST file", "precompiled", "PLEASE submit a bug report"}) {
    if (messages.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

} // namespace winnow::evaluators
