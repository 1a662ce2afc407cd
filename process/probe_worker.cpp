#include "base/error.h"
#include "process/probe_checks.h"
#include "process/sandbox.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace winnow::process {
namespace {

void promise(bool kept, const std::string& broken) {
  if (!kept) {
    throw Error("inside the sandbox, " + broken);
  }
}

bool can_open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) {
    close(fd);
  }
  return fd >= 0;
}

void check_process() {
  rlimit core{};
  getrlimit(RLIMIT_CORE, &core);
  promise(core.rlim_cur == 0 && core.rlim_max == 0, "core dumps are still allowed");
  promise(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "no_new_privs is not set");
  int answer = 0;
  std::thread([&] { answer = 1; }).join();
  promise(answer == 1, "a thread does not run");
}

void check_files(const std::string& secret, const std::string& readable,
                 const std::string& writable) {
  promise(can_open(readable, O_RDONLY), "an exposed file cannot be read: " + readable);
  promise(can_open(writable + "/probe", O_WRONLY | O_CREAT),
          "the writable folder cannot be written: " + writable);
  promise(can_open("/dev/null", O_WRONLY), "/dev/null cannot be opened");
  promise(!can_open(secret, O_RDONLY), "a file that is not exposed can be read: " + secret);
  promise(!can_open("/etc/passwd", O_RDONLY), "/etc/passwd can be read");
  promise(!can_open(readable, O_WRONLY), "a read-only file can be written: " + readable);
}

void check_system_calls() {
  promise(socket(AF_INET, SOCK_STREAM, 0) < 0, "a network socket can be opened");
  promise(socket(AF_UNIX, SOCK_STREAM, 0) < 0, "a local socket can be opened");
  promise(syscall(SYS_unshare, 0) < 0, "unshare() is allowed");
  const pid_t child = static_cast<pid_t>(syscall(SYS_fork));
  if (child == 0) {
    _exit(0);
  }
  if (child > 0) {
    waitpid(child, nullptr, 0);
  }
  promise(child < 0, "a new process can be started");
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  execv(program, argv); // execv returns only on failure, which is what the fence promises
  promise(errno == EPERM, std::string("execve fails with: ") + std::strerror(errno));
}

void check_namespaces() {
  promise(getpid() < 10, "the process sees the process numbers of the machine");
  std::ifstream environment("/proc/1/environ", std::ios::binary);
  std::string text;
  std::getline(environment, text, '\0');
  promise(text.empty() || text.starts_with("WINNOW_PROBING="),
          "the sandbox's first process still has an environment: " +
              text.substr(0, text.find('=')));
}

void probe(const std::vector<std::string>& arguments) {
  if (arguments.size() != 4) {
    throw Error("_probe wants LEVEL SECRET READABLE WRITABLE");
  }
  const auto level = isolation_from_string(arguments[0]);
  promise(level.has_value(), "the level is unknown: " + arguments[0]);
  check_process();
  if (level != Isolation::Rlimits) {
    check_files(arguments[1], arguments[2], arguments[3]);
  }
  if (level == Isolation::Bubblewrap) {
    check_namespaces();
  }
  if (level != Isolation::Rlimits) {
    check_system_calls();
  }
}

} // namespace

int probe_worker_main(std::vector<std::string> arguments) {
  try {
    enter_sandbox(arguments);
    probe(arguments);
  } catch (const Error& error) {
    return report_failure(error);
  }
  std::printf("%s\n", std::string(kProbeAnswer).c_str());
  return 0;
}

} // namespace winnow::process
