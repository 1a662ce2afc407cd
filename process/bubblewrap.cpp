#include "process/bubblewrap.h"

#include "base/error.h"
#include "base/files.h"
#include "process/fence.h"

#include <fstream>
#include <map>

#include <link.h>
#include <unistd.h>

namespace winnow::process {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScratchBytes = "268435456"; // size of /tmp inside

constexpr const char* kReadOnly = "--ro-bind";
constexpr const char* kWritable = "--bind";

fs::path checked(const fs::path& path) {
  std::error_code error;
  if (!path.is_absolute() || !fs::exists(path, error)) {
    throw Error("the sandbox cannot expose '" + path.string() + "': " +
                (path.is_absolute() ? "the path does not exist" : "the path must be absolute"));
  }
  return path.lexically_normal();
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

} // namespace

std::vector<fs::path> libraries_outside_system() {
  std::vector<fs::path> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        const std::string_view name = info->dlpi_name;
        if (name.starts_with('/') && !name.starts_with("/usr/") && !name.starts_with("/lib")) {
          static_cast<std::vector<fs::path>*>(result)->emplace_back(name);
        }
        return 0;
      },
      &paths);
  return paths;
}

/// On a merged system, /lib and the like are links into /usr. On other systems they are
/// directories, or missing (NixOS).
void add_system(std::vector<std::string>& command) {
  const auto add = [&](std::initializer_list<std::string> words) {
    command.insert(command.end(), words);
  };
  add({"--ro-bind", "/usr", "/usr"});
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(path, error)) {
      add({"--symlink", fs::read_symlink(path).string(), path});
    } else {
      add({"--ro-bind-try", path, path});
    }
  }
  add({"--ro-bind-try", "/etc/alternatives", "/etc/alternatives"}); // links to c++ and ld
  add({"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"});
  add({"--proc", "/proc", "--dev", "/dev", "--size", kScratchBytes, "--tmpfs", "/tmp"});
  // To the kernel, root inside is root outside: without this it could change these settings.
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}) {
    add({"--ro-bind-try", path, path});
  }
}

fs::path find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (access(path, X_OK) == 0) {
      return path;
    }
  }
  return {};
}

std::vector<std::string> bubblewrap_command(const fs::path& bwrap, const fs::path& program,
                                            const SandboxPolicy& policy) {
  std::vector<std::string> command{bwrap.string(),  "--unshare-all", "--die-with-parent",
                                   "--new-session", "--cap-drop",    "ALL",
                                   "--hostname",    "winnow"};
  add_system(command);
  // Sorted by path, so that a directory is mounted before the paths inside it. Those that it shows
  // already are not mounted again: a link in it, such as the python3 of a virtual environment, is
  // no place to mount to.
  std::map<fs::path, std::string> binds;
  for (const fs::path& library : libraries_outside_system()) {
    binds[checked(library)] = kReadOnly;
  }
  binds[checked(program)] = kReadOnly;
  for (const fs::path& path : policy.readable) {
    binds[checked(path)] = kReadOnly;
  }
  if (!policy.writable.empty()) {
    binds[checked(policy.writable)] = kWritable;
  }
  fs::path shown = "/usr"; // the last directory that is mounted read-only
  for (const auto& [path, how] : binds) {
    const bool is_shown = how == kReadOnly && is_below(path, shown);
    if (!is_shown && (!is_below(path, "/usr") || how == kWritable)) {
      command.insert(command.end(), {how, path.string(), path.string()});
      shown = how == kReadOnly ? path : fs::path("/usr");
    }
  }
  if (policy.gpu) {
    for (const fs::path& file : gpu_device_files()) {
      command.insert(command.end(), {"--dev-bind", file.string(), file.string()});
    }
    for (const char* path : {"/sys/module", "/sys/devices", "/sys/class", "/sys/bus/pci"}) {
      command.insert(command.end(), {"--ro-bind-try", path, path});
    }
  }
  // Otherwise a process inside could fill the machine's memory with files in these directories.
  command.insert(command.end(),
                 {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"});
  return command;
}

Availability explain_bubblewrap_failure(const std::string& message) {
  const std::string why = "bwrap does not work here: " + message;
  if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" &&
      getuid() != 0) {
    return Availability::no(why + " (AppArmor restricts unprivileged user namespaces)",
                            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or add "
                            "an AppArmor profile with `userns,` for " +
                                find_bubblewrap().string());
  }
  if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0" && getuid() != 0) {
    return Availability::no(why + " (unprivileged user namespaces are switched off)",
                            "sudo sysctl kernel.unprivileged_userns_clone=1");
  }
  if (first_line("/proc/sys/user/max_user_namespaces") == "0") {
    return Availability::no(why + " (user.max_user_namespaces is 0)",
                            "sudo sysctl user.max_user_namespaces=10000");
  }
  return Availability::no(why, "in a container, allow user namespaces and mounting /proc (Docker: "
                               "--security-opt seccomp=unconfined --security-opt "
                               "apparmor=unconfined --security-opt systempaths=unconfined); in a "
                               "chroot, use pivot_root instead");
}

} // namespace winnow::process
