#include "process/child_process.h"

#include "base/error.h"
#include "process/spawn.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace winnow::process {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLongestPoll{60'000};
constexpr milliseconds kCancelPoll{20}; // interval between calls of `cancelled`
// Only on kernels that do not report the end of a child.
constexpr milliseconds kPollWithoutPidfd{2};
// From SIGKILL to the end. A process that takes longer is stuck in the kernel.
constexpr milliseconds kDeathWait{5'000};
// A keeper kills the processes that are left of its child in this time.
constexpr milliseconds kKeeperWait{5'000};
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
// Reads more than 1 MiB, the most that a pipe holds. Limited, because a surviving process may go on
// writing.
constexpr int kMaxDrainReads = 32;
constexpr int kWrapperSignalBase = 128;

/// The time `timeout` from now. Does not overflow for the largest time-outs.
Clock::time_point deadline_in(milliseconds timeout) {
  constexpr std::chrono::hours kForever{24 * 365};
  return Clock::now() + std::min<Clock::duration>(timeout, kForever);
}

int poll_timeout(Clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  return static_cast<int>(std::clamp(left, milliseconds{0}, kLongestPoll).count());
}

/// write() to a pipe. The end of its reader is EPIPE for this thread, and no SIGPIPE for the
/// program.
ssize_t write_to_pipe(int pipe, std::string_view bytes) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  const ssize_t count = ::write(pipe, bytes.data(), bytes.size());
  const int error = errno;
  if (count < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec now{};
    sigtimedwait(&broken, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return count;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

} // namespace

struct ChildProcess::State {
  explicit State(const Command& command)
      : limits(command.limits), signals_as_exit_codes(command.signals_as_exit_codes),
        own_group(command.own_group), has_keeper(command.has_keeper), start(Clock::now()),
        process(spawn(command)) {}

  ProcessLimits limits;
  bool signals_as_exit_codes;
  bool own_group;
  bool has_keeper;
  Clock::time_point start;
  SpawnedProcess process;
  std::string_view to_write;
  bool close_when_written = false;
  std::string out;
  std::string err;
  std::size_t searched = 0; // `out` has no newline before this index
  bool over_limit = false;
  bool reaped = false;
  bool may_have_ended = true; // false: the last poll() saw a child that runs
  ChildResult result;

  Clock::time_point wall_deadline() const {
    return limits.wall.count() > 0 ? start + limits.wall : Clock::time_point::max();
  }
  bool ended() const;
  /// ended(), without a system call when the last poll() saw that the child runs. For loops that
  /// call pump().
  bool seen_ended() const { return may_have_ended && ended(); }
  void kill_group() const;
  void pump(Clock::time_point until);
  bool read_some(UniqueFd& fd, std::string& buffer);
  void write_some();
  void drain();
  std::optional<std::string> take_line();
  bool await_death() const;
  bool await_end(milliseconds timeout) const;
  void finish(std::optional<ChildResult::End> forced);
  void reap(std::optional<ChildResult::End> forced);
};

/// Does not reap the child, so that its pid and process group cannot be reused before the kill.
bool ChildProcess::State::ended() const {
  if (reaped) {
    return true;
  }
  siginfo_t info{};
  const int code =
      waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return code != 0 || info.si_pid != 0;
}

void ChildProcess::State::kill_group() const {
  if (!reaped) {
    ::kill(own_group ? -process.pid : process.pid, has_keeper ? SIGTERM : SIGKILL);
  }
}

/// Polls once: reads the child's output and writes as much input as the child accepts. Returns at
/// `until` at the latest.
void ChildProcess::State::pump(Clock::time_point until) {
  if (!process.pidfd) {
    until = std::min(until, Clock::now() + kPollWithoutPidfd);
  }
  const bool writing = process.in && !to_write.empty();
  std::array<pollfd, 4> fds{{{process.out.get(), POLLIN, 0}, // poll() ignores negative descriptors
                             {process.err.get(), POLLIN, 0},
                             {writing ? process.in.get() : -1, POLLOUT, 0},
                             {process.pidfd.get(), POLLIN, 0}}};
  const int ready = poll(fds.data(), fds.size(), poll_timeout(until));
  may_have_ended = !process.pidfd || ready < 0 || fds[3].revents != 0;
  if (ready <= 0) {
    return;
  }
  if (fds[0].revents != 0) {
    read_some(process.out, out);
  }
  if (fds[1].revents != 0) {
    read_some(process.err, err);
  }
  if (fds[2].revents != 0) {
    write_some();
  }
}

/// False when there is nothing to read now, or the pipe is closed.
bool ChildProcess::State::read_some(UniqueFd& fd, std::string& buffer) {
  if (!fd || over_limit) {
    return false;
  }
  std::array<char, kReadBytes> bytes; // NOLINT(*-member-init): read() fills it
  const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
    return false;
  }
  if (count <= 0) {
    fd.reset();
    return false;
  }
  buffer.append(bytes.data(), static_cast<std::size_t>(count));
  if (limits.output_bytes != 0 && buffer.size() > limits.output_bytes) {
    buffer.resize(limits.output_bytes);
    over_limit = true;
    kill_group();
  }
  return true;
}

void ChildProcess::State::write_some() {
  const ssize_t count = write_to_pipe(process.in.get(), to_write);
  if (count >= 0) {
    to_write.remove_prefix(static_cast<std::size_t>(count));
  } else if (errno != EINTR && errno != EAGAIN) {
    process.in.reset(); // the child closed its stdin
    to_write = {};
  }
  if (to_write.empty() && close_when_written) {
    process.in.reset();
  }
}

/// Reads the rest of the dead child's output. Does not wait for surviving processes that hold the
/// pipes open.
void ChildProcess::State::drain() {
  for (int i = 0; i < kMaxDrainReads && read_some(process.out, out); ++i) {
  }
  for (int i = 0; i < kMaxDrainReads && read_some(process.err, err); ++i) {
  }
}

std::optional<std::string> ChildProcess::State::take_line() {
  const std::size_t end = out.find('\n', searched);
  if (end == std::string::npos) {
    searched = out.size();
    return std::nullopt;
  }
  std::string line = out.substr(0, end);
  out.erase(0, end + 1);
  searched = 0;
  return line;
}

bool ChildProcess::State::await_death() const {
  if (has_keeper && !await_end(kKeeperWait)) {
    ::kill(process.pid, SIGKILL);
  }
  return await_end(kDeathWait);
}

bool ChildProcess::State::await_end(milliseconds timeout) const {
  const Clock::time_point until = deadline_in(timeout);
  while (!ended()) {
    if (Clock::now() >= until) {
      return false;
    }
    pollfd fd{process.pidfd.get(), POLLIN, 0};
    poll(&fd, 1, process.pidfd ? poll_timeout(until) : static_cast<int>(kPollWithoutPidfd.count()));
  }
  return true;
}

void ChildProcess::State::finish(std::optional<ChildResult::End> forced) {
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  kill_group();
  if (await_death()) {
    drain();
    reap(forced);
  } else {
    result.end = forced.value_or(ChildResult::End::WallTimeout);
    result.error = "process " + std::to_string(process.pid) + " did not end within " +
                   std::to_string(kDeathWait.count()) + " ms of SIGKILL";
  }
  process.in.reset();
  result.out = std::move(out);
  result.err = std::move(err);
}

void ChildProcess::State::reap(std::optional<ChildResult::End> forced) {
  using End = ChildResult::End;
  int status = 0;
  rusage usage{};
  reaped = true;
  if (wait4(process.pid, &status, 0, &usage) != process.pid) {
    result.error = "the exit status of the process was lost: another part of this program has "
                   "waited for it, or the program ignores SIGCHLD";
    return;
  }
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
    const int signal = result.exit_code - kWrapperSignalBase;
    if (signals_as_exit_codes && signal > 0 && signal < NSIG) {
      result.signal = signal;
      result.exit_code = -1;
    }
  }
  const bool cpu_spent =
      result.signal == SIGXCPU || (result.signal == SIGKILL && limits.cpu.count() > 0 &&
                                   result.cpu_seconds >= static_cast<double>(limits.cpu.count()));
  if (over_limit) {
    result.end = End::OutputLimit;
  } else if (forced) {
    result.end = *forced;
  } else if (cpu_spent) {
    result.end = End::CpuTimeout;
  } else {
    result.end = result.signal != 0 ? End::Signaled : End::Exited;
  }
}

ChildProcess::ChildProcess(const Command& command) : state_(std::make_unique<State>(command)) {}

ChildProcess::~ChildProcess() {
  if (!state_->reaped) {
    state_->kill_group();
    if (state_->await_death()) {
      waitpid(state_->process.pid, nullptr, 0);
    }
  }
}

int ChildProcess::pid() const {
  return state_->process.pid;
}

bool ChildProcess::write(std::string_view bytes, std::chrono::milliseconds timeout) {
  State& state = *state_;
  const Clock::time_point until = std::min(deadline_in(timeout), state.wall_deadline());
  state.to_write = bytes;
  if (state.process.in) {
    state.write_some(); // mostly the socket takes all of it at once
  }
  while (!state.to_write.empty() && state.process.in && !state.over_limit && !state.seen_ended() &&
         Clock::now() < until) {
    state.pump(until);
  }
  const bool written = state.process.in && state.to_write.empty();
  state.to_write = {};
  return written;
}

void ChildProcess::close_stdin() {
  state_->process.in.reset();
}

std::optional<std::string> ChildProcess::read_line(std::chrono::milliseconds timeout) {
  State& state = *state_;
  const Clock::time_point until = std::min(deadline_in(timeout), state.wall_deadline());
  while (true) {
    if (auto line = state.take_line()) {
      return line;
    }
    if (!state.process.out || state.over_limit || Clock::now() >= until) {
      return std::nullopt;
    }
    if (state.seen_ended()) {
      state.drain();
      return state.take_line();
    }
    state.pump(until);
  }
}

bool ChildProcess::running() {
  return !state_->ended();
}

void ChildProcess::kill() {
  state_->kill_group();
}

ChildResult ChildProcess::wait(const std::function<bool()>& cancelled) {
  State& state = *state_;
  const Clock::time_point deadline = state.wall_deadline();
  std::optional<ChildResult::End> forced;
  while (!state.reaped && !forced && !state.over_limit && !state.seen_ended()) {
    if (Clock::now() >= deadline) {
      forced = ChildResult::End::WallTimeout;
    } else if (cancelled && cancelled()) {
      forced = ChildResult::End::Cancelled;
    } else {
      state.pump(cancelled ? std::min(deadline, Clock::now() + kCancelPoll) : deadline);
    }
  }
  if (!state.reaped) {
    state.finish(forced);
  }
  return state.result;
}

ChildResult ChildProcess::run(std::string_view input, const std::function<bool()>& cancelled) {
  if (input.empty()) {
    close_stdin();
  } else {
    state_->to_write = input;
    state_->close_when_written = true;
  }
  return wait(cancelled);
}

ChildResult run_child(const Command& command, std::string_view input,
                      const std::function<bool()>& cancelled) {
  try {
    return ChildProcess(command).run(input, cancelled);
  } catch (const Error& error) {
    ChildResult failed;
    failed.error = error.what();
    return failed;
  }
}

} // namespace winnow::process
