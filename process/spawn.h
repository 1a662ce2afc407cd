#pragma once

#include "base/unique_fd.h"
#include "process/child_process.h"

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

/// This process gets `signal` when process `parent_pid`, its parent, dies. Throws Error, also if
/// that has died already.
void watch_parent(int parent_pid, int signal);

/// Splits this process in two. The new process returns, and goes on as the fenced child. This
/// process becomes its keeper and does not return: it waits until the child ends, kills every
/// process that is left of it, also those in other sessions, and then ends as the child did. On
/// SIGTERM, which also tells it that process `parent_pid` has died, it kills the child, too.
/// For fences that let the child start processes and have no PID namespace. Call it while the
/// process has one thread. Throws Error.
void start_keeper(int parent_pid);

} // namespace winnow::process
