#pragma once

#include "base/availability.h"
#include "process/child_process.h"

#include <filesystem>
#include <string>
#include <vector>

namespace winnow::process {

/// A file or folder that a session sees.
struct ShownPath {
  std::filesystem::path source; ///< outside
  std::filesystem::path at;     ///< inside
  bool writable = false;
};

/// What the session of a program may reach that the user trusts with a network and a login, but not
/// with the rest of the machine: a coding agent. Inside are /usr, the files of /etc that a client
/// of the network reads, these paths, and fresh /proc, /dev and /tmp.
struct SessionFence {
  std::vector<ShownPath> shown;
  ProcessLimits limits;
};

/// Whether bubblewrap can put up this fence here. Only the first call in a process tries.
const Availability& probe_session_fence();

/// The command that runs `argv`. `fenced`: behind bubblewrap, in a PID namespace that ends all its
/// processes with it; the network stays. Otherwise with resource limits and a keeper alone, and
/// `shown` is ignored. The hidden subcommand `_exec` of this program sets the limits.
Command session_command(bool fenced, const std::vector<std::string>& argv,
                        const SessionFence& fence);

/// Entry point of `_exec`: sets the limits in its hidden options and becomes the program that its
/// other arguments name.
int exec_worker_main(std::vector<std::string> arguments);

} // namespace winnow::process
