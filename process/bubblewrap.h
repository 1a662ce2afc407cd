#pragma once

#include "process/sandbox.h"

namespace winnow::process {

/// Where bwrap is installed; empty when it is not.
std::filesystem::path find_bubblewrap();

/// The command line `bwrap ... --`; the caller appends the command that shall run inside. The
/// inside has /usr, `program` with its libraries, the paths of the policy, and fresh /proc, /dev
/// and /tmp. Throws Error for a policy path that is relative or does not exist.
std::vector<std::string> bubblewrap_command(const std::filesystem::path& bwrap,
                                            const std::filesystem::path& program,
                                            const SandboxPolicy& policy);

/// The shared libraries of the running program that do not belong to the system.
std::vector<std::filesystem::path> libraries_outside_system();
/// Appends the words that mount /usr with its links, fresh /proc and /dev, and an empty /tmp.
void add_system(std::vector<std::string>& command);

/// Turns the `message` that bwrap printed into a reason why bwrap does not work on this machine,
/// and a remedy.
Availability explain_bubblewrap_failure(const std::string& message);

} // namespace winnow::process
