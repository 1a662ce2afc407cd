#include "base/text.h"
#include "evaluators/worker/runner.h"

#include <csignal>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using End = process::ChildResult::End;

// The parent's deadline is later, so that the worker notices its own deadline first and reports
// where the kernel hangs.
constexpr std::chrono::milliseconds kFreshGrace{1000};

class FreshRunner final : public Runner {
public:
  FreshRunner(const process::Sandbox& sandbox, const Arena& arena)
      : sandbox_(sandbox), arena_(arena) {}

  StageOutcome run(RunRequest request, const RunnerLimits& limits,
                   const std::function<bool()>& cancelled, const OnReport& /*on_report*/) override {
    request.deadline = limits.wall;
    const process::ChildResult child =
        process::run_child(command(request, limits), encode(request), cancelled);
    StageOutcome outcome;
    outcome.cancelled = child.end == End::Cancelled;
    outcome.printed = truncate_text(to_valid_utf8(child.err), kMaxPrintedBytes);
    for (const std::string_view line : split_lines(child.out)) {
      add_line(outcome.report, std::string(line));
    }
    if (!take_reported_fault(outcome) && !outcome.report.complete) {
      outcome.fault = fault_of_ended_worker(child);
      outcome.faulty_case = outcome.report.cases.size();
    }
    return outcome;
  }

private:
  process::Command command(const RunRequest& request, const RunnerLimits& limits) const {
    process::ProcessLimits child_limits;
    child_limits.wall = limits.wall + kFreshGrace;
    child_limits.memory_bytes = limits.memory_bytes;
    child_limits.output_bytes = kMaxPrintedByStage;
    child_limits.file_bytes = 1; // the child writes no files
    process::SandboxPolicy policy = process::candidate_policy(request.module);
    policy.readable.insert(policy.readable.end(), request.rivals.begin(), request.rivals.end());
    return sandbox_.command("_run", {}, policy, child_limits, {{arena_.fd(), kArenaFd}});
  }

  const process::Sandbox& sandbox_;
  const Arena& arena_;
};

} // namespace

DeviceFault fault_of_ended_worker(const process::ChildResult& result) {
  switch (result.end) {
  case End::WallTimeout:
  case End::CpuTimeout:
    return {Verdict::Timeout, describe(result)};
  case End::OutputLimit:
    return {Verdict::OverLimit, fmt::format("prints more than {} MiB; remove the printf calls",
                                            kMaxPrintedByStage >> 20U)};
  case End::Signaled:
    return {Verdict::Crashed,
            describe(result) + (result.signal == SIGSYS
                                    ? ": the kernel tried to make a system call of its own"
                                    : "")};
  case End::Exited:
    if (result.exit_code == 0) { // a worker exits with 0 only after its answer
      return {Verdict::Crashed, "the kernel ended the process that it ran in"};
    }
    break;
  case End::SpawnFailed:
  case End::Cancelled:
    break;
  }
  std::string detail = "the worker " + (result.error.empty() ? describe(result) : result.error);
  if (!result.err.empty()) {
    detail += ": " + truncate_text(to_valid_utf8(trim(result.err)), 500);
  }
  return {Verdict::Infrastructure, detail};
}

bool take_reported_fault(StageOutcome& outcome) {
  for (const RunCaseReport& run_case : outcome.report.cases) {
    if (run_case.fault) {
      outcome.fault = run_case.fault;
      outcome.faulty_case = run_case.index;
    }
  }
  return outcome.fault.has_value();
}

std::unique_ptr<Runner> make_fresh_runner(const process::Sandbox& sandbox, const Arena& arena) {
  return std::make_unique<FreshRunner>(sandbox, arena);
}

} // namespace winnow::evaluators
