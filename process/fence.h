#pragma once

#include "base/sanitized.h"
#include "process/sandbox.h"

#include <string>
#include <vector>

namespace winnow::process {

/// What a child is told to put up around itself, as hidden options in front of its arguments.
struct Fence {
  Isolation level = Isolation::Rlimits;
  int parent_pid = 0; ///< die when this process is gone; 0: bwrap sees to it
  Limits limits;
  SandboxPolicy policy;
};

std::vector<std::string> fence_options(const Fence& fence);
/// Reads and removes them. Throws Error when there are none or one is not understood.
Fence take_fence_options(std::vector<std::string>& arguments);

/// The device files through which NVIDIA's and AMD's user-space drivers work, as far as they are
/// here.
std::vector<std::filesystem::path> gpu_device_files();

/// The kernel's Landlock version; below 1 there is none.
int landlock_abi();

/// Landlock: from now on this process opens nothing but system libraries and what the policy names.
/// Throws Error when the kernel cannot.
void restrict_files(const SandboxPolicy& policy);

/// seccomp: refuses (EPERM) sockets, other processes, mounts, kernel interfaces that no worker
/// needs and, without `may_spawn`, new processes and programs and changes of files' modes and
/// owners. Threads are allowed. With `gpu`, UNIX sockets may be made and listen, as CUDA's driver
/// insists on, but neither connect nor accept.
void restrict_system_calls(const SandboxPolicy& policy);

/// Only code that is loaded now may make system calls; a process that makes one from elsewhere is
/// killed by SIGSYS. Call it after restrict_system_calls(). Throws Error.
void restrict_to_loaded_code();

/// Sandbox::command without asking whether the level works here.
Command fenced_command(Isolation level, const std::filesystem::path& program,
                       std::string_view subcommand, const std::vector<std::string>& arguments,
                       const SandboxPolicy& policy, const Limits& limits,
                       std::vector<InheritedFd> fds);

} // namespace winnow::process
