#include "base/error.h"
#include "process/spawn.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::process {
namespace {

namespace fs = std::filesystem;

void require(bool ok, const char* call) {
  if (!ok) {
    throw Error(std::string(call) + ": " + std::strerror(errno));
  }
}

/// The parent in "pid (name) state parent ...". The name may hold spaces and parentheses.
pid_t parent_in(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 4 > stat.size()
             ? 0
             : std::atoi(stat.c_str() + name_end + 4);
}

std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::string stat;
    if (pid > 0 && std::getline(std::ifstream(entry.path() / "stat"), stat)) {
      children.emplace(parent_in(stat), pid);
    }
  }
  return children;
}

void signal_descendants(int signal) {
  const std::multimap<pid_t, pid_t> children = children_by_parent();
  std::vector<pid_t> open{getpid()};
  while (!open.empty()) {
    const auto [begin, end] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = begin; child != end; ++child) {
      kill(child->second, signal);
      open.push_back(child->second);
    }
  }
}

/// A descendant whose parent dies becomes a child of the keeper, so in the end no child is left.
/// Whoever is stopped starts no more processes while the next ones are looked for.
void kill_descendants() {
  constexpr std::chrono::milliseconds kPause{1};
  while (true) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      return;
    }
    if (ended == 0) {
      signal_descendants(SIGSTOP);
      signal_descendants(SIGKILL);
      std::this_thread::sleep_for(kPause);
    }
  }
}

[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    std::signal(WTERMSIG(status), SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

/// The status of the child when it has ended. Reaps whoever else has ended.
bool has_ended(pid_t child, int& status) {
  pid_t ended = 0;
  int seen = 0;
  while ((ended = waitpid(-1, &seen, WNOHANG)) > 0) {
    if (ended == child) {
      status = seen;
      return true;
    }
  }
  return false;
}

[[noreturn]] void keep(pid_t child, const sigset_t& signals) {
  closefrom(0); // only the child holds the pipes
  int status = 0;
  while (!has_ended(child, status)) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal == SIGTERM) {
      kill(child, SIGKILL);
    }
  }
  kill_descendants();
  end_like(status);
}

} // namespace

void watch_parent(int parent_pid, int signal) {
  require(prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) == 0, "prctl(PR_SET_PDEATHSIG)");
  if (getppid() != parent_pid) { // the parent died before the call above
    throw Error("the parent process has ended");
  }
}

void start_keeper(int parent_pid) {
  require(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl(PR_SET_CHILD_SUBREAPER)");
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, &before);
  watch_parent(parent_pid, SIGTERM);
  const pid_t keeper = getpid();
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child > 0) {
    keep(child, signals);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  setsid(); // a kill of the child's group does not hit the keeper
  watch_parent(keeper, SIGKILL);
}

} // namespace winnow::process
