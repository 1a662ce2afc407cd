#pragma once

#include "process/sandbox.h"

namespace winnow::process {

/// Where bwrap is installed; empty when it is not.
std::filesystem::path find_bubblewrap();

/// `bwrap ... --`: what is to run inside follows. Inside are /usr, `program` with its libraries,
/// what the policy names, and fresh /proc, /dev and /tmp.
/// Throws Error for a policy path that is relative or does not exist.
std::vector<std::string> bubblewrap_command(const std::filesystem::path& bwrap,
                                            const std::filesystem::path& program,
                                            const SandboxPolicy& policy);

/// Why bwrap, having printed `message`, does not work on this machine, and what to do about it.
Availability explain_bubblewrap_failure(const std::string& message);

} // namespace winnow::process
