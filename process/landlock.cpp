#include "base/error.h"
#include "base/unique_fd.h"
#include "process/fence.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel headers of Debian 12 end at Landlock's second ABI. So the constants up to the sixth
// ABI are defined here, from the kernel's Documentation/userspace-api/landlock.rst.
namespace winnow::process {
namespace {

constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadDir = 1U << 3U;
constexpr std::uint64_t kFirstAbi = (1U << 13U) - 1U; // all thirteen rights of the first ABI
constexpr std::uint64_t kMakeChar = 1U << 6U;
constexpr std::uint64_t kMakeBlock = 1U << 11U;
constexpr std::uint64_t kRefer = 1U << 13U;    // ABI 2
constexpr std::uint64_t kTruncate = 1U << 14U; // ABI 3
constexpr std::uint64_t kIoctlDev = 1U << 15U; // ABI 5
constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;
constexpr std::uint64_t kTcp = 3;       // bind and connect, ABI 4
constexpr std::uint64_t kScopeBoth = 3; // abstract UNIX sockets and signals, ABI 6

constexpr std::uint32_t kCreateRulesetVersion = 1;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

struct PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
} __attribute__((packed));

[[noreturn]] void no_landlock(int error) {
  if (error == EOPNOTSUPP) {
    throw Error("Landlock is in this kernel but switched off at boot",
                "add landlock to the kernel's lsm= boot parameter");
  }
  if (error == ENOSYS) {
    throw Error("this kernel has no Landlock (Linux has it from 5.13 on), or a container hides it",
                "use a kernel with CONFIG_SECURITY_LANDLOCK, or a container runtime whose seccomp "
                "profile lets landlock_* through");
  }
  throw Error(std::string("landlock_create_ruleset: ") + std::strerror(error),
              "allow the landlock_* system calls in the container's seccomp profile");
}

std::uint64_t rights_of(int abi) {
  return kFirstAbi | (abi >= 2 ? kRefer : 0) | (abi >= 3 ? kTruncate : 0) |
         (abi >= 5 ? kIoctlDev : 0);
}

class Ruleset {
public:
  explicit Ruleset(int abi) : rights_(rights_of(abi)) {
    const RulesetAttributes attributes{rights_, abi >= 4 ? kTcp : 0, abi >= 6 ? kScopeBoth : 0};
    fd_.reset(
        static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
    if (!fd_) {
      no_landlock(errno);
    }
  }

  /// False when the path does not exist. Opens with O_PATH, which needs no right to read the file.
  bool allow(const std::filesystem::path& path, std::uint64_t rights) const {
    const UniqueFd target(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (!target || fstat(target.get(), &status) != 0) {
      return false;
    }
    if (!S_ISDIR(status.st_mode)) {
      rights &= kFileRights;
    }
    const PathBeneath rule{rights & rights_, target.get()};
    if (syscall(SYS_landlock_add_rule, fd_.get(), kRulePathBeneath, &rule, 0) != 0) {
      throw Error("landlock_add_rule(" + path.string() + "): " + std::strerror(errno));
    }
    return true;
  }

  void require(const std::filesystem::path& path, std::uint64_t rights) const {
    if (!allow(path, rights)) {
      throw Error("the sandbox cannot expose " + path.string() + ": " + std::strerror(errno));
    }
  }

  void enforce() const {
    if (syscall(SYS_landlock_restrict_self, fd_.get(), 0) != 0) {
      throw Error(std::string("landlock_restrict_self: ") + std::strerror(errno));
    }
  }

private:
  std::uint64_t rights_;
  UniqueFd fd_;
};

/// Allows programs and libraries, and the files that the C library and compilers read at run time.
void allow_system(const Ruleset& ruleset) {
  for (const char* path : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    ruleset.allow(path, kExecute | kReadFile | kReadDir);
  }
  for (const char* path :
       {"/etc/alternatives", "/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/proc/self",
        "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu"}) {
    ruleset.allow(path, kReadFile | kReadDir);
  }
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full"}) {
    ruleset.allow(path, kReadFile | kWriteFile | kTruncate);
  }
}

/// Allows the files that the user-space drivers of GPUs open: their device files, and facts about
/// the machine under /proc and /sys. CUDA's driver writes the names of its threads with O_TRUNC; if
/// that is refused, cuInit fails (error 304). The threads do not exist yet, so the rule cannot be
/// limited to their `comm` files.
void allow_gpu(const Ruleset& ruleset) {
  for (const std::filesystem::path& file : gpu_device_files()) {
    ruleset.allow(file, kReadFile | kWriteFile | kIoctlDev);
  }
  for (const char* path : {"/proc/driver", "/proc/devices", "/proc/modules", "/sys", "/dev/dri"}) {
    ruleset.allow(path, kReadFile | kReadDir);
  }
  ruleset.allow("/proc/self/task", kWriteFile | kTruncate);
}

} // namespace

int landlock_abi() {
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion));
}

void restrict_files(const SandboxPolicy& policy) {
  const int abi = landlock_abi();
  if (abi < 1) {
    no_landlock(errno);
  }
  const Ruleset ruleset(abi);
  allow_system(ruleset);
  for (const std::filesystem::path& path : policy.readable) {
    ruleset.require(path, kReadFile | kReadDir | (policy.may_spawn ? kExecute : 0));
  }
  if (!policy.writable.empty()) {
    constexpr std::uint64_t kAll = kFirstAbi | kRefer | kTruncate;
    ruleset.require(policy.writable, kAll & ~(kMakeChar | kMakeBlock | kExecute));
  }
  if (policy.gpu) {
    allow_gpu(ruleset);
  }
  ruleset.enforce();
}

} // namespace winnow::process
