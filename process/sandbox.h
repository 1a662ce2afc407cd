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

/// How a child that touches untrusted work is fenced in, weakest first. Stored with every
/// evaluation.
enum class Isolation : std::uint8_t {
  Rlimits = 1,         ///< resource limits only
  LandlockSeccomp = 2, ///< + no files but the named ones, no network, no other processes
  Bubblewrap = 3,      ///< + namespaces of its own: nothing of the machine is even visible
};
std::string_view to_string(Isolation isolation); ///< "rlimits", "landlock+seccomp", "bubblewrap"
std::optional<Isolation> isolation_from_string(std::string_view text);

/// What a fenced child may see besides the program, its libraries and /dev/null.
struct SandboxPolicy {
  std::vector<std::filesystem::path> readable; ///< files or directories, at the same paths inside
  std::filesystem::path writable; ///< one directory, at the same path inside; may be empty
  bool may_spawn = false;         ///< compilers start children; a candidate's run does not
  bool loads_code = false; ///< of a candidate's: only what is loaded before may call the system
  bool gpu = false;        ///< the device files of every GPU, and what their drivers read
};

/// Of the process that loads and runs a candidate's module on the CPU.
SandboxPolicy candidate_policy(const std::filesystem::path& module);

/// What this machine offers, by trying: one short child a level.
struct IsolationProbe {
  Availability bubblewrap;
  Availability landlock_seccomp;
  Availability rlimits;
  const Availability& at(Isolation level) const;
  Isolation best() const;
};
/// Tries each level with the running program's hidden subcommand `_probe`, once a process; later
/// calls return the first answer. Any thread.
const IsolationProbe& probe_isolation();

/// Starts this program's hidden subcommands ("_compile", "_run", "_judge") fenced in.
/// The child calls enter_sandbox() before it reads a byte of untrusted input.
class Sandbox {
public:
  /// `program` is the winnow binary. Throws Error when `level` does not work here.
  Sandbox(Isolation level, std::filesystem::path program);
  /// The strongest level that works; throws Error (with the reason and what to install) when that
  /// is weaker than `required`.
  static Sandbox best(std::optional<Isolation> required = std::nullopt);

  Isolation level() const { return level_; }
  /// The command line that runs `program_ subcommand arguments...` under the policy, with an empty
  /// environment. Pass it to ChildProcess or run_child.
  Command command(std::string_view subcommand, const std::vector<std::string>& arguments,
                  const SandboxPolicy& policy, const Limits& limits,
                  std::vector<InheritedFd> fds = {}) const;

private:
  Isolation level_;
  std::filesystem::path program_;
};

/// In the child, first thing: applies rlimits, no_new_privs, not dumpable and, at that level,
/// Landlock and seccomp, as the hidden options that Sandbox::command appended say. Consumes them
/// from `arguments`. Throws Error when a promised fence cannot be put up.
/// Call it while the process has one thread.
void enter_sandbox(std::vector<std::string>& arguments);

/// Entry point of the hidden subcommand `_probe`: tries, from inside, what the level promises.
int probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::process
