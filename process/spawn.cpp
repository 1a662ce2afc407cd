#include "process/spawn.h"

#include "base/error.h"

#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>

namespace winnow::process {
namespace {

/// Makes every posix_spawn call of the process. A child gets its parent-death signal when the
/// *thread* that started it ends; bwrap's --die-with-parent uses the same signal. So a thread that
/// lives as long as the process starts all children.
class SpawnThread {
public:
  SpawnThread() : thread_([this] { serve(); }) {}
  ~SpawnThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  SpawnThread(const SpawnThread&) = delete; // the thread holds `this`
  SpawnThread& operator=(const SpawnThread&) = delete;

  int run(const std::function<int()>& job) {
    const std::lock_guard one_caller(callers_);
    std::unique_lock lock(mutex_);
    job_ = &job;
    result_.reset();
    changed_.notify_all();
    changed_.wait(lock, [this] { return result_.has_value(); });
    return *result_;
  }

private:
  void serve() {
    sigset_t all;
    sigfillset(&all);
    // Signal handlers belong to the other threads of the program.
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || job_ != nullptr; });
      if (stopping_) {
        return;
      }
      result_ = (*job_)();
      job_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<int()>* job_ = nullptr;
  std::optional<int> result_;
  bool stopping_ = false;
  std::thread thread_; // last, because the thread uses the other members
};

SpawnThread& spawn_thread() {
  static SpawnThread thread;
  return thread;
}

void check_errno(bool ok, const char* call) {
  if (!ok) {
    throw Error(std::string(call) + ": " + std::strerror(errno),
                errno == EMFILE || errno == ENFILE ? "raise the limit on open files (ulimit -n)"
                                                   : "");
  }
}

void check_code(int code, const char* call) {
  if (code != 0) {
    throw Error(std::string(call) + ": " + std::strerror(code));
  }
}

class FileActions {
public:
  FileActions() { check_code(posix_spawn_file_actions_init(&actions_), "file_actions_init"); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete; // a C object that must not move
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

private:
  posix_spawn_file_actions_t actions_{};
};

class Attributes {
public:
  explicit Attributes(bool own_group) {
    check_code(posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    // In a session of its own the child has no terminal, and its process group can be killed.
    const int session = own_group ? POSIX_SPAWN_SETSID : 0;
    const int flags = session | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete; // a C object that must not move
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

private:
  posix_spawnattr_t attributes_{};
};

/// Gives the child exactly the descriptors in `fds`. All sources are first copied to numbers above
/// the target numbers. So no dup2 overwrites the source of a later dup2, and no dup2 copies a
/// descriptor onto itself, which would keep CLOEXEC.
std::vector<UniqueFd> place_fds(posix_spawn_file_actions_t* actions,
                                const std::vector<InheritedFd>& fds) {
  std::set<int> wanted;
  for (const InheritedFd& fd : fds) {
    if (fd.child_fd < 0 || !wanted.insert(fd.child_fd).second) {
      throw Error("file descriptor " + std::to_string(fd.child_fd) +
                  " of the child is negative or used twice");
    }
  }
  const int above = *wanted.rbegin() + 1;
  std::vector<UniqueFd> sources;
  for (const InheritedFd& fd : fds) {
    sources.emplace_back(fcntl(fd.parent_fd, F_DUPFD_CLOEXEC, above));
    check_errno(static_cast<bool>(sources.back()), "copying a descriptor for a child");
    check_code(posix_spawn_file_actions_adddup2(actions, sources.back().get(), fd.child_fd),
               "file_actions_adddup2");
  }
  for (int fd = 0; fd < above; ++fd) {
    if (!wanted.contains(fd)) {
      check_code(posix_spawn_file_actions_addclose(actions, fd), "file_actions_addclose");
    }
  }
  check_code(posix_spawn_file_actions_addclosefrom_np(actions, above),
             "file_actions_addclosefrom_np");
  return sources;
}

std::vector<char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) {
    // The signature of execve needs the cast; execve does not write.
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

int start(const Command& command, const std::vector<InheritedFd>& fds) {
  const std::string directory =
      command.working_directory.empty() ? "/" : command.working_directory.string();
  FileActions actions;
  check_code(posix_spawn_file_actions_addchdir_np(actions.get(), directory.c_str()),
             "file_actions_addchdir_np");
  const std::vector<UniqueFd> sources = place_fds(actions.get(), fds);
  const Attributes attributes(command.own_group);
  std::vector<std::string> environment;
  environment.reserve(command.environment.size());
  for (const auto& [name, value] : command.environment) {
    environment.push_back(std::string(name).append("=").append(value));
  }
  const std::vector<char*> argv = c_strings(command.argv);
  const std::vector<char*> envp = c_strings(environment);
  pid_t pid = -1;
  const int code = spawn_thread().run([&] {
    return posix_spawn(&pid, argv[0], actions.get(), attributes.get(), argv.data(), envp.data());
  });
  if (code != 0) {
    throw Error("cannot start " + command.argv[0] + " in " + directory + ": " +
                std::strerror(code));
  }
  return pid;
}

void set_nonblocking(const UniqueFd& fd) {
  check_errno(fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0, "fcntl(O_NONBLOCK)");
}

} // namespace

SpawnedProcess spawn(const Command& command) {
  if (command.argv.empty()) {
    throw Error("a child process needs a program to run");
  }
  SpawnedProcess process;
  int pair[2];
  check_errno(pipe2(pair, O_CLOEXEC) == 0, "pipe2");
  process.in.reset(pair[1]);
  const UniqueFd child_in(pair[0]);
  check_errno(pipe2(pair, O_CLOEXEC) == 0, "pipe2");
  process.out.reset(pair[0]);
  const UniqueFd child_out(pair[1]);
  check_errno(pipe2(pair, O_CLOEXEC) == 0, "pipe2");
  process.err.reset(pair[0]);
  const UniqueFd child_err(pair[1]);
  for (const UniqueFd* fd : {&process.in, &process.out, &process.err}) {
    set_nonblocking(*fd);
  }

  std::vector<InheritedFd> fds{{child_in.get(), 0}, {child_out.get(), 1}, {child_err.get(), 2}};
  fds.insert(fds.end(), command.fds.begin(), command.fds.end());
  process.pid = start(command, fds);
  // Called by number, because glibc 2.36's declaration cannot be linked from C++.
  process.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  return process;
}

} // namespace winnow::process
