#pragma once

#include "process/child_process.h"
#include "process/unique_fd.h"

namespace winnow::process {

/// A child that was just started. Reads and writes on the parent's ends do not block.
struct SpawnedProcess {
  int pid = -1;
  UniqueFd pidfd; ///< empty on kernels before 5.3 and where a container forbids pidfds
  UniqueFd in;    ///< a pipe, because some sandboxes forbid sockets
  UniqueFd out;
  UniqueFd err;
};

/// Starts the command as ChildProcess describes. Throws Error when it cannot be started.
SpawnedProcess spawn(const Command& command);

} // namespace winnow::process
