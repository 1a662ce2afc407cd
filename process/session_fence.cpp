#include "process/session_fence.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "process/bubblewrap.h"
#include "process/fence.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <unistd.h>

namespace winnow::process {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kFenceProbeTime{10'000};

/// What clients of the network read: names, certificates, users, time zones.
constexpr const char* kNetworkFiles[] = {
    "/etc/resolv.conf", "/etc/hosts",     "/etc/nsswitch.conf",   "/etc/host.conf",
    "/etc/gai.conf",    "/etc/passwd",    "/etc/group",           "/etc/localtime",
    "/etc/ssl",         "/etc/pki",       "/etc/ca-certificates", "/etc/crypto-policies",
    "/etc/timezone",    "/etc/protocols", "/etc/services",        "/etc/mime.types"};

void add(std::vector<std::string>& command, std::initializer_list<std::string> words) {
  command.insert(command.end(), words);
}

/// This program, its libraries and the shown paths, each folder before what is in it.
std::vector<ShownPath> mounts_of(const SessionFence& fence) {
  std::vector<ShownPath> mounts = fence.shown;
  std::vector<fs::path> own = libraries_outside_system();
  own.push_back(executable_path());
  for (const fs::path& path : own) {
    mounts.push_back({path, path, false});
  }
  std::stable_sort(mounts.begin(), mounts.end(),
                   [](const ShownPath& a, const ShownPath& b) { return a.at < b.at; });
  return mounts;
}

/// Whether the path is there already, at the same place.
bool is_shown(const ShownPath& path, const std::vector<ShownPath>& earlier) {
  const auto shows = [&](const ShownPath& other) {
    return other.source == other.at && (!other.writable || path.writable) &&
           is_below(path.at, other.at);
  };
  const bool is_system = !path.writable && is_below(path.at, "/usr");
  return path.source == path.at &&
         (is_system || std::any_of(earlier.begin(), earlier.end(), shows));
}

std::vector<std::string> fence_command(const SessionFence& fence) {
  std::vector<std::string> command{find_bubblewrap().string(),
                                   "--unshare-all",
                                   "--share-net",
                                   "--die-with-parent",
                                   "--new-session",
                                   "--cap-drop",
                                   "ALL"};
  add_system(command);
  for (const char* path : kNetworkFiles) {
    add(command, {"--ro-bind-try", path, path});
  }
  // Otherwise a process inside could fill the machine's memory with files in it. What is shown may
  // be below it.
  add(command, {"--size", "268435456", "--tmpfs", "/dev/shm"});
  std::vector<ShownPath> done;
  for (const ShownPath& path : mounts_of(fence)) {
    if (!is_shown(path, done)) {
      add(command,
          {path.writable ? "--bind" : "--ro-bind", path.source.string(), path.at.string()});
      done.push_back(path);
    }
  }
  add(command, {"--remount-ro", "/dev", "--remount-ro", "/"});
  return command;
}

Availability probe_fence() {
  if (find_bubblewrap().empty()) {
    return Availability::no("bwrap is not installed", "sudo apt-get install bubblewrap");
  }
  SessionFence fence;
  fence.limits.wall = kFenceProbeTime;
  Command command;
  command.argv = fence_command(fence);
  add(command.argv, {"--", "/bin/sh", "-c", "test ! -e /home && test -e /proc/self"});
  command.limits = fence.limits;
  const ChildResult result = run_child(command, {});
  if (result.end == ChildResult::End::Exited && result.exit_code == 0) {
    return Availability::yes(find_bubblewrap().string() + ", with the network");
  }
  return explain_bubblewrap_failure(truncate_text(to_valid_utf8(trim(result.err)), 500));
}

} // namespace

const Availability& probe_session_fence() {
  static const Availability probe = probe_fence();
  return probe;
}

Command session_command(bool fenced, const std::vector<std::string>& argv,
                        const SessionFence& fence) {
  Command command;
  command.limits = fence.limits;
  command.signals_as_exit_codes = fenced;
  command.has_keeper = !fenced;
  Fence own;
  own.level = fenced ? Isolation::Bubblewrap : Isolation::Rlimits;
  own.parent_pid = fenced ? 0 : getpid(); // bwrap's PID namespace ends with its parent
  own.limits = fence.limits;
  if (fenced) {
    command.argv = fence_command(fence);
    add(command.argv, {"--"});
  }
  add(command.argv, {executable_path().string(), "_exec"});
  for (const std::vector<std::string>& words : {fence_options(own), argv}) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  }
  return command;
}

} // namespace winnow::process
