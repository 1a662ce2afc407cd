#pragma once

#include "base/availability.h"
#include "process/child_process.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::process {

/// How strongly a child that handles untrusted code is fenced in, weakest first. Stored with every
/// evaluation.
enum class Isolation : std::uint8_t {
  Rlimits = 1,         ///< resource limits only
  LandlockSeccomp = 2, ///< + only named files, no network, no other processes
  Bubblewrap = 3,      ///< + own namespaces: the rest of the machine is not even visible
};
std::string_view to_string(Isolation isolation); ///< "rlimits", "landlock+seccomp", "bubblewrap"
std::optional<Isolation> isolation_from_string(std::string_view text);

/// What a fenced child may access besides the program, its libraries and /dev/null.
struct SandboxPolicy {
  std::vector<std::filesystem::path> readable; ///< files or directories, at the same paths inside
  std::filesystem::path writable; ///< one directory, at the same path inside; may be empty
  bool may_spawn = false; ///< true for compilers, which start children; false for a candidate's run
  bool loads_code = false; ///< candidate's code: only code loaded before it may make system calls
  bool gpu = false;        ///< the device files of every GPU, and the files that their drivers read
};

/// The policy of the process that loads and runs a candidate's module on the CPU.
SandboxPolicy candidate_policy(const std::filesystem::path& module);

/// The isolation levels that work on this machine, found by trying each in one short child.
struct IsolationProbe {
  Availability bubblewrap;
  Availability landlock_seccomp;
  Availability rlimits;
  const Availability& at(Isolation level) const;
  Isolation best() const;
};
/// Tries each level with the hidden subcommand `_probe` of the running program. Only the first call
/// in a process tries; later calls return its answer. Any thread.
const IsolationProbe& probe_isolation();

/// Starts this program's hidden subcommands ("_compile", "_run", "_judge") fenced in.
/// The child calls enter_sandbox() before it reads a byte of untrusted input.
class Sandbox {
public:
  /// `program` is the winnow binary. Throws Error when `level` does not work here.
  Sandbox(Isolation level, std::filesystem::path program);
  /// The strongest level that works. Throws Error, with the reason and the packages to install,
  /// when that level is weaker than `required`.
  static Sandbox best(std::optional<Isolation> required = std::nullopt);

  Isolation level() const { return level_; }
  /// The command line that runs `program_ subcommand arguments...` under the policy, with an empty
  /// environment. Pass it to ChildProcess or run_child.
  Command command(std::string_view subcommand, const std::vector<std::string>& arguments,
                  const SandboxPolicy& policy, const ProcessLimits& limits,
                  std::vector<InheritedFd> fds = {}) const;

private:
  Isolation level_;
  std::filesystem::path program_;
};

/// The child's first call. Applies rlimits, no_new_privs, not dumpable and, at the levels that
/// promise them, Landlock and seccomp. Reads the settings from the hidden options that
/// Sandbox::command put in front of `arguments`, and removes those options. Throws Error when a
/// promised fence cannot be put up. The process must still have only one thread.
void enter_sandbox(std::vector<std::string>& arguments);

/// Entry point of the hidden subcommand `_probe`, which tests from inside whether the level keeps
/// its promises.
int probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::process
