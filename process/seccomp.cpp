#include "base/error.h"
#include "process/fence.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::process {
namespace {

struct Release {
  void operator()(scmp_filter_ctx filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release>;

/// System calls that no compiler, kernel run or judge needs, and that could be a way out: network,
/// other processes, mounts and namespaces, keys, and parts of the kernel with a history of
/// vulnerabilities.
constexpr const char* kNever[] = {"connect",
                                  "accept",
                                  "accept4",
                                  "shmget",
                                  "shmat",
                                  "semget",
                                  "msgget",
                                  "mq_open",
                                  "inotify_init",
                                  "inotify_init1",
                                  "ptrace",
                                  "process_vm_readv",
                                  "process_vm_writev",
                                  "process_madvise",
                                  "process_mrelease",
                                  "kcmp",
                                  "pidfd_getfd",
                                  "pidfd_send_signal",
                                  "setpriority",
                                  "ioprio_set",
                                  "migrate_pages",
                                  "move_pages",
                                  "sched_setscheduler",
                                  "sched_setparam",
                                  "sched_setattr",
                                  "mount",
                                  "umount",
                                  "umount2",
                                  "pivot_root",
                                  "chroot",
                                  "move_mount",
                                  "open_tree",
                                  "mount_setattr",
                                  "fsopen",
                                  "fsconfig",
                                  "fsmount",
                                  "fspick",
                                  "unshare",
                                  "setns",
                                  "bpf",
                                  "perf_event_open",
                                  "userfaultfd",
                                  "io_uring_setup",
                                  "io_uring_enter",
                                  "io_uring_register",
                                  "fanotify_init",
                                  "open_by_handle_at",
                                  "name_to_handle_at",
                                  "lookup_dcookie",
                                  "vmsplice",
                                  "add_key",
                                  "request_key",
                                  "keyctl",
                                  "modify_ldt",
                                  "init_module",
                                  "finit_module",
                                  "delete_module",
                                  "kexec_load",
                                  "kexec_file_load",
                                  "reboot",
                                  "swapon",
                                  "swapoff",
                                  "acct",
                                  "quotactl",
                                  "quotactl_fd",
                                  "syslog",
                                  "iopl",
                                  "ioperm",
                                  "settimeofday",
                                  "clock_settime",
                                  "clock_adjtime",
                                  "adjtimex",
                                  "stime",
                                  "sethostname",
                                  "setdomainname",
                                  "vhangup",
                                  "nfsservctl"};

/// Without socket(), the other two are of no use.
constexpr const char* kListening[] = {"socket", "bind", "listen"};

constexpr const char* kNoSpawn[] = {"execve", "execveat",        "fork",
                                    "vfork",  "rt_sigqueueinfo", "rt_tgsigqueueinfo"};

/// Linkers set a file's mode; a candidate's run does not. Landlock does not control these calls at
/// all.
constexpr const char* kNoMetadata[] = {
    "chmod",      "fchmod",      "fchmodat",     "fchmodat2",    "chown",
    "fchown",     "lchown",      "fchownat",     "utime",        "utimes",
    "utimensat",  "futimesat",   "setxattr",     "lsetxattr",    "fsetxattr",
    "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat",
};

constexpr unsigned long kNamespaceFlags[] = {CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWPID,
                                             CLONE_NEWNET,   CLONE_NEWIPC, CLONE_NEWUTS,
                                             CLONE_NEWCGROUP};

/// Condition on the system call's argument number `index`.
scmp_arg_cmp argument_is_not(unsigned index, scmp_datum_t value) {
  return {index, SCMP_CMP_NE, value, 0};
}
scmp_arg_cmp argument_bits(unsigned index, scmp_datum_t mask, scmp_datum_t value) {
  return {index, SCMP_CMP_MASKED_EQ, mask, value};
}

class Rules {
public:
  Rules() : filter_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (!filter_) {
      throw Error("seccomp_init failed: libseccomp does not know this processor");
    }
    // The filter must hold for all threads, because a sanitizer's helper thread is running already.
    check(seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1), "seccomp_attr_set(TSYNC)");
  }

  /// Denies the call; with conditions, only if all of them hold.
  void deny(const char* name, int error, const std::vector<scmp_arg_cmp>& conditions = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) {
      return; // the call is newer than this libseccomp
    }
    check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                 number, static_cast<unsigned>(conditions.size()),
                                 conditions.data()),
          name);
  }

  void load() { check(seccomp_load(filter_.get()), "seccomp_load"); }

private:
  static void check(int code, const char* what) {
    if (code < 0) {
      throw Error(std::string("seccomp: ") + what + ": " + std::strerror(-code),
                  "the kernel needs CONFIG_SECCOMP_FILTER; in a container, allow seccomp(2)");
    }
  }
  Filter filter_;
};

void restrict_run(Rules& rules) {
  for (const char* name : kNoSpawn) {
    rules.deny(name, EPERM);
  }
  for (const char* name : kNoMetadata) {
    rules.deny(name, EPERM);
  }
  rules.deny("clone", EPERM, {argument_bits(0, CLONE_THREAD, 0)});
  // Signals to the own process are allowed, because abort() sends one.
  const auto self = static_cast<scmp_datum_t>(getpid());
  for (const char* name : {"kill", "tkill", "tgkill"}) {
    rules.deny(name, EPERM, {argument_is_not(0, self)});
  }
}

} // namespace

void restrict_system_calls(const SandboxPolicy& policy) {
  Rules rules;
  for (const char* name : kNever) {
    rules.deny(name, EPERM);
  }
  if (policy.gpu) {
    rules.deny("socket", EPERM, {argument_is_not(0, AF_UNIX)});
  } else {
    for (const char* name : kListening) {
      rules.deny(name, EPERM);
    }
  }
  rules.deny("truncate", EPERM); // Landlock controls it only since ABI 3; linkers use ftruncate
  // The flags of clone3 are behind a pointer, which a filter cannot follow. On ENOSYS the C library
  // falls back to clone, whose flags are in a register.
  rules.deny("clone3", ENOSYS);
  for (const unsigned long flag : kNamespaceFlags) {
    rules.deny("clone", EPERM, {argument_bits(0, flag, flag)});
  }
  rules.deny("prlimit64", EPERM, {argument_is_not(0, 0)}); // the limits of another process
  rules.deny("ioctl", EPERM, {argument_bits(1, 0xffffffffU, TIOCSTI)});
  if (!policy.may_spawn) {
    restrict_run(rules);
  }
  rules.load();
}

} // namespace winnow::process
