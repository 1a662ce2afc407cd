#include "process/sandbox.h"

#include "base/error.h"
#include "base/files.h"
#include "process/bubblewrap.h"
#include "process/fence.h"

#include <unistd.h>

namespace winnow::process {

std::string_view to_string(Isolation isolation) {
  switch (isolation) {
  case Isolation::Rlimits:
    return "rlimits";
  case Isolation::LandlockSeccomp:
    return "landlock+seccomp";
  case Isolation::Bubblewrap:
    return "bubblewrap";
  }
  return "unknown";
}

std::optional<Isolation> isolation_from_string(std::string_view text) {
  for (const Isolation level :
       {Isolation::Rlimits, Isolation::LandlockSeccomp, Isolation::Bubblewrap}) {
    if (text == to_string(level)) {
      return level;
    }
  }
  return std::nullopt;
}

const Availability& IsolationProbe::at(Isolation level) const {
  switch (level) {
  case Isolation::Bubblewrap:
    return bubblewrap;
  case Isolation::LandlockSeccomp:
    return landlock_seccomp;
  case Isolation::Rlimits:
    break;
  }
  return rlimits;
}

Isolation IsolationProbe::best() const {
  if (bubblewrap.ok) {
    return Isolation::Bubblewrap;
  }
  return landlock_seccomp.ok ? Isolation::LandlockSeccomp : Isolation::Rlimits;
}

namespace {

void require_level(Isolation level) {
  const Availability& availability = probe_isolation().at(level);
  if (!availability.ok) {
    throw Error("isolation '" + std::string(to_string(level)) +
                    "' is not available: " + availability.why,
                availability.remedy);
  }
}

} // namespace

SandboxPolicy candidate_policy(const std::filesystem::path& module) {
  SandboxPolicy policy;
  policy.readable = {module};
  policy.loads_code = true;
  return policy;
}

Sandbox::Sandbox(Isolation level, std::filesystem::path program)
    : level_(level), program_(std::move(program)) {
  require_level(level);
}

Sandbox Sandbox::best(std::optional<Isolation> required) {
  const Isolation level = probe_isolation().best();
  if (required && level < *required) {
    require_level(*required);
  }
  return {level, executable_path()};
}

Command Sandbox::command(std::string_view subcommand, const std::vector<std::string>& arguments,
                         const SandboxPolicy& policy, const ProcessLimits& limits,
                         std::vector<InheritedFd> fds) const {
  return fenced_command(level_, program_, subcommand, arguments, policy, limits, std::move(fds));
}

Command fenced_command(Isolation level, const std::filesystem::path& program,
                       std::string_view subcommand, const std::vector<std::string>& arguments,
                       const SandboxPolicy& policy, const ProcessLimits& limits,
                       std::vector<InheritedFd> fds) {
  Command command;
  command.limits = limits;
  command.fds = std::move(fds);
  const bool wrapped = level == Isolation::Bubblewrap;
  if (wrapped) {
    command.argv = bubblewrap_command(find_bubblewrap(), program, policy);
    command.signals_as_exit_codes = true;
  }
  command.has_keeper = has_keeper(level, policy);
  command.argv.insert(command.argv.end(), {program.string(), std::string(subcommand)});
  // With bwrap, the child's parent is process 1 of the namespace, and bwrap itself dies with this
  // process.
  const Fence fence{level, wrapped ? 0 : getpid(), limits, policy};
  for (const std::vector<std::string>& words : {fence_options(fence), arguments}) {
    command.argv.insert(command.argv.end(), words.begin(), words.end());
  }
  return command;
}

} // namespace winnow::process
