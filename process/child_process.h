#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::process {

/// Resource limits of a child; 0 means no limit. ChildProcess enforces `wall` and `output_bytes`.
/// enter_sandbox() sets the other limits, so they hold only for commands of Sandbox.
struct ProcessLimits {
  std::chrono::milliseconds wall{10'000};
  std::chrono::seconds cpu{0};
  std::uint64_t memory_bytes = 0; ///< address space (RLIMIT_AS); ignored in sanitizer builds
  std::uint64_t file_bytes = 0;   ///< largest file that the child may write (RLIMIT_FSIZE)
  /// Limit for stdout and stderr each. A child that writes more is killed.
  std::uint64_t output_bytes = 1U << 20U;
  unsigned processes = 0; ///< RLIMIT_NPROC (root is exempt), or the limit of the pid namespace
};

/// A file descriptor that the child inherits under the number `child_fd`. The parent keeps its own
/// copy.
struct InheritedFd {
  int parent_fd = -1;
  int child_fd = -1;
};

struct Command {
  std::vector<std::string> argv; ///< argv[0] is a path
  /// The complete environment: nothing is inherited
  std::map<std::string, std::string> environment;
  std::filesystem::path working_directory; ///< empty: "/"
  std::vector<InheritedFd> fds;
  ProcessLimits limits;
  /// argv[0] is a wrapper that reports "killed by signal N" as exit code 128 + N, as bwrap does.
  bool signals_as_exit_codes = false;
  /// The process keeps another one and ends it on SIGTERM, with all that it has started.
  bool has_keeper = false;
  /// False for a process that a fenced child starts. Such a process stays in the child's session
  /// and group, so it dies when that group is killed; kill() then ends only the process itself.
  bool own_group = true;
};

/// How a child ended.
struct ChildResult {
  enum class End : std::uint8_t {
    Exited,
    Signaled,
    WallTimeout,
    CpuTimeout,
    OutputLimit,
    SpawnFailed,
    Cancelled,
  };
  End end = End::SpawnFailed;
  int exit_code = -1;
  int signal = 0;
  std::string out; ///< capped at limits.output_bytes
  std::string err;
  double wall_seconds = 0;
  /// User + system time of the child and of the children that it waited for. Nearly 0 under bwrap,
  /// because bwrap does not wait for the process that it starts.
  double cpu_seconds = 0;
  std::string error; ///< SpawnFailed only: the reason
};

/// "killed by SIGSEGV", "still running after 10.0 s (wall-clock limit)", "exited with 1".
std::string describe(const ChildResult& result);

/// A running child, started by posix_spawn in a session and process group of its own. Its stdin,
/// stdout and stderr are pipes; all other descriptors are closed. The destructor kills the whole
/// group and, at every level of a Sandbox, all processes that the child has started. Use it from
/// one thread at a time. The thread that started the child may end before it.
class ChildProcess {
public:
  /// Throws Error when it cannot be started.
  explicit ChildProcess(const Command& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete; // owns the child and its pipes
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const;
  /// Writes all of `bytes` to the child's stdin. False when the child has closed its stdin or the
  /// time is up.
  bool write(std::string_view bytes, std::chrono::milliseconds timeout);
  void close_stdin();
  /// The next line of the child's stdout, without the newline. nullopt at the end of the output, at
  /// the time-out, or when the line would exceed limits.output_bytes. wait() returns an unfinished
  /// last line.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  bool running();
  void kill();
  /// Writes `input`, closes the child's stdin and waits.
  ChildResult run(std::string_view input, const std::function<bool()>& cancelled = {});
  /// Reads the output until the child ends or exceeds a limit, then kills the rest of its group.
  ChildResult wait(const std::function<bool()>& cancelled = {});

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Starts a child, writes `input` to it and waits. Never throws because of the child's behaviour.
ChildResult run_child(const Command& command, std::string_view input,
                      const std::function<bool()>& cancelled = {});

} // namespace winnow::process
