// The `_exec` child: it limits itself and becomes another program. Its limits are those of a
// session (session_fence.h): unlike enter_sandbox() it leaves the program its threads, files and
// network.
#include "base/error.h"
#include "process/fence.h"
#include "process/probe_checks.h"
#include "process/session_fence.h"
#include "process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace winnow::process {
namespace {

void lower_limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_max = std::min(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(resource, &limit) != 0) {
    throw Error(std::string("setrlimit: ") + std::strerror(errno));
  }
}

/// Outside of a user namespace the kernel counts all processes of the user, so those that run are
/// added.
rlim_t most_processes(const Fence& fence) {
  struct sysinfo info {};
  sysinfo(&info);
  return fence.limits.processes +
         (fence.level == Isolation::Bubblewrap ? rlim_t{0} : rlim_t{info.procs});
}

void limit_session(const Fence& fence) {
  lower_limit(RLIMIT_CORE, 0);
  if (fence.limits.file_bytes != 0) {
    lower_limit(RLIMIT_FSIZE, fence.limits.file_bytes);
  }
  if (fence.limits.processes != 0) {
    lower_limit(RLIMIT_NPROC, most_processes(fence));
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    throw Error(std::string("prctl(PR_SET_NO_NEW_PRIVS): ") + std::strerror(errno));
  }
}

} // namespace

int exec_worker_main(std::vector<std::string> arguments) {
  try {
    const Fence fence = take_fence_options(arguments);
    if (arguments.empty()) {
      throw Error("_exec wants a program");
    }
    if (fence.parent_pid != 0) {
      start_keeper(fence.parent_pid);
    }
    limit_session(fence);
    std::vector<char*> words;
    for (std::string& argument : arguments) {
      words.push_back(argument.data());
    }
    words.push_back(nullptr);
    execv(words.front(), words.data());
    throw Error("cannot start " + arguments.front() + ": " + std::strerror(errno));
  } catch (const Error& error) {
    return report_failure(error);
  }
}

} // namespace winnow::process
