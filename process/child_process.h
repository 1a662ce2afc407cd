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

/// What a child may use up. 0 means no limit of that kind. ChildProcess enforces `wall` and
/// `output_bytes`; the others are put up by enter_sandbox(), so they hold for Sandbox's commands.
struct Limits {
  std::chrono::milliseconds wall{10'000};
  std::chrono::seconds cpu{0};
  std::uint64_t memory_bytes = 0; ///< address space (RLIMIT_AS); ignored in sanitizer builds
  std::uint64_t file_bytes = 0;   ///< largest file it may write (RLIMIT_FSIZE)
  std::uint64_t output_bytes = 1U << 20U; ///< stdout and stderr each; more kills it
  unsigned processes = 0;                 ///< RLIMIT_NPROC (root is exempt) or the pid namespace's
};

/// A file descriptor the child gets under a number of its own; the parent keeps its copy.
struct InheritedFd {
  int parent_fd = -1;
  int child_fd = -1;
};

struct Command {
  std::vector<std::string> argv;                  ///< argv[0] is a path
  std::map<std::string, std::string> environment; ///< all of it: nothing is inherited
  std::filesystem::path working_directory;        ///< empty: "/"
  std::vector<InheritedFd> fds;
  Limits limits;
  /// argv[0] is a wrapper that reports "killed by signal N" as exit code 128 + N, as bwrap does.
  bool signals_as_exit_codes = false;
  /// False for what a fenced child starts itself: it stays in that child's session and group, so it
  /// dies when that group is killed; kill() then ends only the process itself.
  bool own_group = true;
  /// Without address space randomisation: two such children that do the same find their libraries
  /// and memory at the same places. A wish: containers may forbid it.
  bool fixed_addresses = false;
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
  /// User + system, with its waited-for children. Under bwrap, which does not wait for what it
  /// started, next to nothing.
  double cpu_seconds = 0;
  /// Linux counts what the caller used at the start, too: the caller's own size is the least.
  std::uint64_t max_rss_bytes = 0;
  std::string error; ///< SpawnFailed: why
};

/// "killed by SIGSEGV", "still running after 10.0 s (wall-clock limit)", "exited with 1".
std::string describe(const ChildResult& result);

/// A running child: posix_spawn in a session and process group of its own, stdin, stdout and stderr
/// piped, everything else closed. Killed with its whole group when the object goes. One thread at a
/// time, and any thread: the child outlives the thread that started it.
class ChildProcess {
public:
  /// Throws Error when it cannot be started.
  explicit ChildProcess(const Command& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete; // owns the child and its pipes
  ChildProcess& operator=(const ChildProcess&) = delete;

  int pid() const;
  /// Writes all of `bytes` to its stdin; false when the child no longer reads or time is up.
  bool write(std::string_view bytes, std::chrono::milliseconds timeout);
  void close_stdin();
  /// The next line of its stdout without the newline; nullopt at its end, at the time-out, or when
  /// the line would exceed limits.output_bytes. An unfinished last line is no line: wait() has it.
  std::optional<std::string> read_line(std::chrono::milliseconds timeout);
  bool running();
  void kill();
  /// Feeds `input`, closes its stdin and waits. The wall-clock limit counts from now, not from the
  /// start: for a child that was started before there was work for it.
  ChildResult run(std::string_view input, const std::function<bool()>& cancelled = {});
  /// Drains output until the child ends or a limit strikes; kills what is left of its group.
  ChildResult wait(const std::function<bool()>& cancelled = {});

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Starts it, feeds `input`, waits. Never throws for what the child does.
ChildResult run_child(const Command& command, std::string_view input,
                      const std::function<bool()>& cancelled = {});

} // namespace winnow::process
