// The `_escape` child: a process with a candidate's fence that tries to get out. For each attempt
// it prints what stopped the attempt or what the attempt reached.
#include "base/error.h"
#include "base/unique_fd.h"
#include "process/escape_attempts.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::process {
namespace {

/// The targets of the attempts.
struct Target {
  std::string secret; ///< a file outside of the policy
  std::string module; ///< a file that may be read but not written
  int port = 0;       ///< a server on the loopback interface
  pid_t coordinator = 0;
  std::uintptr_t address = 0; ///< of a word in the coordinator's memory
};

/// What stopped the attempt; empty: the attempt succeeded.
using Stopped = std::string;

Stopped because(const char* call) {
  return std::string(call) + ": " + std::strerror(errno);
}

Stopped read_file_at(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  return file && read(file.get(), &byte, 1) == 1 ? Stopped() : because("open");
}

Stopped write_file_at(const std::string& path, int flags) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0600));
  return file ? Stopped() : because("open");
}

Stopped write_beside(const Target& target) {
  const std::string path = target.secret + "-of-mine";
  Stopped stopped = write_file_at(path, O_CREAT);
  unlink(path.c_str());
  return stopped;
}

Stopped connect_to_loopback(const Target& target) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) {
    return because("socket");
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(target.port));
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
             ? Stopped()
             : because("connect");
}

Stopped signal_coordinator(const Target& target) {
  return kill(target.coordinator, 0) == 0 ? Stopped() : because("kill");
}

Stopped read_coordinators_memory(const Target& target) {
  std::uint64_t word = 0;
  iovec mine{&word, sizeof word};
  iovec theirs{reinterpret_cast<void*>(target.address), sizeof word};
  return process_vm_readv(target.coordinator, &mine, 1, &theirs, 1, 0) ==
                 static_cast<ssize_t>(sizeof word)
             ? Stopped()
             : because("process_vm_readv");
}

Stopped read_environment_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  if (!file) {
    return because("open");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.empty() ? "the environment is empty" : Stopped();
}

Stopped start_program() {
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  if (child < 0) {
    return because("fork");
  }
  if (child == 0) {
    char program[] = "/bin/true";
    char* arguments[] = {program, nullptr};
    execv(program, arguments);
    _exit(errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? Stopped()
             : std::string("execve: ") + std::strerror(WEXITSTATUS(status));
}

/// Starts more processes at once than any fence allows.
Stopped fork_without_end() {
  constexpr std::size_t kMany = 400;
  std::vector<pid_t> children;
  Stopped stopped;
  while (stopped.empty() && children.size() < kMany) {
    const auto child = static_cast<pid_t>(syscall(SYS_fork));
    if (child == 0) {
      pause();
      _exit(0);
    }
    if (child < 0) {
      stopped = because("fork") + " after " + std::to_string(children.size());
    } else {
      children.push_back(child);
    }
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return stopped;
}

/// Writes a megabyte to the first directory that accepts it.
Stopped fill_disk(const Target& target) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  const std::vector<char> block(kBytes, 'x');
  std::signal(SIGXFSZ, SIG_IGN);
  Stopped stopped;
  for (const std::string& path :
       {target.secret + "-fill", std::string("/tmp/winnow-fill"),
        std::string("/dev/shm/winnow-fill"), std::string("/winnow-fill")}) {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file) {
      stopped = because("open");
      continue;
    }
    std::size_t written = 0;
    ssize_t count = 1;
    while (written < kBytes && count > 0) {
      count = write(file.get(), block.data() + written, kBytes - written);
      written += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    stopped = because("write");
    unlink(path.c_str());
    if (written == kBytes) {
      return {};
    }
  }
  return stopped;
}

Stopped open_namespace() {
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? Stopped() : because("unshare");
}

Stopped mount_something() {
  return mount("none", "/tmp", "tmpfs", 0, nullptr) == 0 ? Stopped() : because("mount");
}

void report(const char* name, const Stopped& stopped, const char* reached) {
  const bool is_stopped = !stopped.empty();
  std::printf("%s\t%s\t%s\n", name, is_stopped ? std::string(kStopped).c_str() : "possible",
              is_stopped ? stopped.c_str() : reached);
}

void attempt_all(const Target& target) {
  report("read a file of the user", read_file_at(target.secret), "its text was read");
  report("read /etc/passwd", read_file_at("/etc/passwd"), "its text was read");
  report("change the module it runs", write_file_at(target.module, 0), "the module can be written");
  report("write a file elsewhere", write_beside(target), "the file was made");
  report("change a setting of the system", write_file_at("/proc/sys/kernel/core_pattern", 0),
         "it can be written");
  report("reach the network", connect_to_loopback(target), "a server answered");
  report("signal the coordinator", signal_coordinator(target), "a signal can be sent");
  report("read the coordinator's memory", read_coordinators_memory(target), "a word was read");
  report("read the coordinator's environment", read_environment_of(target.coordinator),
         "variables were read");
  report("read /proc/1/environ", read_environment_of(1), "variables were read");
  report("start a program", start_program(), "/bin/true ran");
  report("fork without end", fork_without_end(), "400 processes ran at once");
  report("fill the disk", fill_disk(target), "a megabyte was written");
  report("open a namespace", open_namespace(), "the process has its own namespace");
  report("mount a file system", mount_something(), "a file system was mounted over /tmp");
}

Target target_of(const std::vector<std::string>& arguments) {
  constexpr std::size_t kArguments = 5;
  if (arguments.size() != kArguments) {
    throw Error("_escape wants SECRET MODULE PORT PID ADDRESS");
  }
  return {arguments[0], arguments[1], std::stoi(arguments[2]), std::stoi(arguments[3]),
          std::stoull(arguments[4])};
}

} // namespace

int escape_worker_main(std::vector<std::string> arguments) {
  enter_sandbox(arguments);
  attempt_all(target_of(arguments));
  return 0;
}

} // namespace winnow::process
