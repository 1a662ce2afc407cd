#include "base/error.h"
#include "process/fence.h"
#include "process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#ifdef WINNOW_SANITIZED
namespace {
bool fenced = false;
} // namespace
/// The leak checker starts a tracer process at exit, but the fence refuses new processes.
extern "C" int __lsan_is_turned_off() {
  return fenced ? 1 : 0;
}
#endif

#ifdef WINNOW_SANITIZED
// Compiler libraries that are loaded at run time never free some memory. Children have no
// environment, so the suppressions cannot come from a variable.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libLLVM\nleak:libnvrtc\nleak:libamdhip64\nleak:libamd_comgr\nleak:libhiprtc\n";
}
#endif

namespace winnow::process {
namespace {

constexpr rlim_t kOpenFiles = 256;
// Applies even if the shell has `ulimit -s unlimited`.
constexpr rlim_t kStackBytes = rlim_t{64} << 20U;

void set_limit(__rlimit_resource resource, rlim_t soft, rlim_t hard, const char* name) {
  rlimit current{};
  getrlimit(resource, &current);
  // A lower inherited hard limit stays, because only a privileged process may raise a hard limit.
  const rlimit limit{std::min(soft, current.rlim_max), std::min(hard, current.rlim_max)};
  if (setrlimit(resource, &limit) != 0) {
    throw Error(std::string("setrlimit(") + name + "): " + std::strerror(errno));
  }
}

void set_limit(__rlimit_resource resource, rlim_t value, const char* name) {
  set_limit(resource, value, value, name);
}

/// In a user namespace, the kernel counts only the processes inside. Outside, it counts all
/// processes of the user, so the limit is raised by the number of all processes on the machine.
/// That still stops a fork bomb.
rlim_t process_limit(const Fence& fence) {
  if (fence.level == Isolation::Bubblewrap) {
    return fence.limits.processes;
  }
  struct sysinfo info {};
  sysinfo(&info);
  return rlim_t{info.procs} + fence.limits.processes;
}

void apply_limits(const Fence& fence) {
  const ProcessLimits& limits = fence.limits;
  set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  set_limit(RLIMIT_NOFILE, kOpenFiles, "RLIMIT_NOFILE");
  set_limit(RLIMIT_STACK, kStackBytes, "RLIMIT_STACK");
  if (limits.cpu.count() > 0) {
    // SIGXCPU shows the cause. SIGKILL follows a second later for a process that ignores SIGXCPU.
    const auto cpu = static_cast<rlim_t>(limits.cpu.count());
    set_limit(RLIMIT_CPU, cpu, cpu + 1, "RLIMIT_CPU");
  }
  if (limits.memory_bytes != 0 && !kSanitized) {
    set_limit(RLIMIT_AS, limits.memory_bytes, "RLIMIT_AS");
  }
  if (limits.file_bytes != 0) {
    set_limit(RLIMIT_FSIZE, limits.file_bytes, "RLIMIT_FSIZE");
  }
  if (limits.processes != 0) {
    set_limit(RLIMIT_NPROC, process_limit(fence), "RLIMIT_NPROC");
  }
}

void set_process_flag(int option, unsigned long value, const char* name) {
  if (prctl(option, value, 0, 0, 0) != 0) {
    throw Error(std::string("prctl(") + name + "): " + std::strerror(errno));
  }
}

} // namespace

void enter_sandbox(std::vector<std::string>& arguments) {
  const Fence fence = take_fence_options(arguments);
  if (has_keeper(fence.level, fence.policy)) {
    start_keeper(fence.parent_pid);
  } else if (fence.parent_pid != 0) {
    watch_parent(fence.parent_pid, SIGKILL);
  }
  unsetenv("PWD"); // set by bwrap
  if (!fence.policy.writable.empty()) {
    setenv("TMPDIR", fence.policy.writable.c_str(), 1); // otherwise compilers try /tmp
  }
  apply_limits(fence);
  set_process_flag(PR_SET_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS");
  if (!kSanitized) {
    set_process_flag(PR_SET_DUMPABLE, 0, "PR_SET_DUMPABLE");
  }
#ifdef WINNOW_SANITIZED
  fenced = true;
#endif
  if (fence.level == Isolation::LandlockSeccomp) {
    restrict_files(fence.policy);
  }
  if (fence.level != Isolation::Rlimits) {
    restrict_system_calls(fence.policy);
    if (fence.policy.loads_code) {
      restrict_to_loaded_code();
    }
  }
}

} // namespace winnow::process
