#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "process/bubblewrap.h"
#include "process/fence.h"
#include "process/probe_checks.h"

#include <cstdio>
#include <cstdlib>

namespace winnow::process {
namespace {

constexpr std::chrono::milliseconds kProbeTime{10'000};
/// Set in the environment of a probe, so that a program that does not know `_probe` does not probe
/// again, without end.
constexpr const char* kProbing = "WINNOW_PROBING";

/// Winnow's own files, some outside and some inside the probe's policy.
struct ProbeFiles {
  TemporaryDirectory hidden{"probe-hidden"};
  TemporaryDirectory open{"probe"};
  std::filesystem::path secret = hidden.path() / "secret";
  std::filesystem::path readable = open.path() / "readable";
  std::filesystem::path writable = open.path() / "writable";

  ProbeFiles() {
    write_file_atomic(secret, "secret");
    write_file_atomic(readable, "readable");
    std::filesystem::create_directory(writable);
  }
};

ChildResult run_probe(Isolation level, const ProbeFiles& files) {
  SandboxPolicy policy;
  policy.readable = {files.readable};
  policy.writable = files.writable;
  ProcessLimits limits;
  limits.wall = kProbeTime;
  Command command = fenced_command(level, executable_path(), "_probe",
                                   {std::string(to_string(level)), files.secret.string(),
                                    files.readable.string(), files.writable.string()},
                                   policy, limits, {});
  command.environment[kProbing] = "1";
  return run_child(command, {});
}

/// The text that the child printed, or else how it ended.
std::string complaint(const ChildResult& result) {
  const std::string text(trim(to_valid_utf8(result.err)));
  return text.empty() ? "the probe " + describe(result) : truncate_text(text, 500);
}

std::string detail(Isolation level) {
  switch (level) {
  case Isolation::Bubblewrap:
    return find_bubblewrap().string() + " and seccomp";
  case Isolation::LandlockSeccomp:
    return "Landlock ABI " + std::to_string(landlock_abi()) + " and seccomp";
  case Isolation::Rlimits:
    break;
  }
  return "resource limits only";
}

Availability probe_level(Isolation level, const ProbeFiles& files) {
  if (level == Isolation::Bubblewrap && find_bubblewrap().empty()) {
    return Availability::no("bwrap is not installed", "sudo apt-get install bubblewrap");
  }
  const ChildResult result = run_probe(level, files);
  if (result.end == ChildResult::End::Exited && result.exit_code == 0 &&
      trim(result.out) == kProbeAnswer) {
    return Availability::yes(detail(level));
  }
  return level == Isolation::Bubblewrap && result.err.starts_with("bwrap: ")
             ? explain_bubblewrap_failure(complaint(result))
             : reported_failure(result);
}

IsolationProbe probe_all() {
  if (std::getenv(kProbing) != nullptr) {
    const Availability no = Availability::no("this program does not answer `_probe`", "");
    return {no, no, no};
  }
  const ProbeFiles files;
  return {probe_level(Isolation::Bubblewrap, files), probe_level(Isolation::LandlockSeccomp, files),
          probe_level(Isolation::Rlimits, files)};
}

} // namespace

int report_failure(const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  if (!error.remedy().empty()) {
    std::fprintf(stderr, "%s%s\n", std::string(kRemedyMark).c_str(), error.remedy().c_str());
  }
  return 1;
}

Availability reported_failure(const ChildResult& result) {
  const std::string text = complaint(result);
  const std::size_t remedy = text.find(kRemedyMark);
  if (remedy == std::string::npos) {
    return Availability::no(text, "");
  }
  return Availability::no(std::string(trim(text.substr(0, remedy))),
                          text.substr(remedy + kRemedyMark.size()));
}

const IsolationProbe& probe_isolation() {
  static const IsolationProbe probe = probe_all();
  return probe;
}

} // namespace winnow::process
