#pragma once

#include "process/child_process.h"
#include "process/unique_fd.h"

namespace winnow::process {

/// A child that has just been started. The parent's ends do not block.
struct SpawnedProcess {
  int pid = -1;
  UniqueFd pidfd; ///< none on kernels before 5.3 and where a container forbids it
  UniqueFd in;    ///< a socket: send(MSG_NOSIGNAL) spares the caller SIGPIPE
  UniqueFd out;
  UniqueFd err;
};

/// Starts the command as ChildProcess describes. Throws Error when that fails.
SpawnedProcess spawn(const Command& command);

} // namespace winnow::process
