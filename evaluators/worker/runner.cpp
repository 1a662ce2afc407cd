#include "evaluators/worker/runner.h"

#include "base/error.h"
#include "base/text.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using End = ChildResult::End;

// The worker notices its own deadline first and can say where it hangs; the parent's comes later.
constexpr std::chrono::milliseconds kGrace{1000};
constexpr std::uint64_t kMaxOutputBytes = 4U << 20U;
constexpr std::size_t kMaxPrintedBytes = 2000;

DeviceFault fault_of(const ChildResult& result) {
  switch (result.end) {
  case End::WallTimeout:
  case End::CpuTimeout:
    return {Verdict::Timeout, describe(result)};
  case End::OutputLimit:
    return {Verdict::OverLimit, fmt::format("prints more than {} MiB; remove the printf calls",
                                            kMaxOutputBytes >> 20U)};
  case End::Signaled:
    return {Verdict::Crashed, describe(result)};
  case End::Exited:
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

} // namespace

RunOutcome run_cases(const Sandbox& sandbox, const Arena& arena, RunRequest request,
                     const RunnerLimits& limits, const std::function<bool()>& cancelled) {
  request.deadline = limits.wall;
  Limits child_limits;
  child_limits.wall = limits.wall + kGrace;
  child_limits.memory_bytes = limits.memory_bytes;
  child_limits.output_bytes = kMaxOutputBytes;
  child_limits.file_bytes = 1; // it writes no files
  SandboxPolicy policy;
  policy.readable = {request.module};
  const ChildResult child =
      run_child(sandbox.command("_run", {}, policy, child_limits, {{arena.fd(), kArenaFd}}),
                encode(request), cancelled);

  RunOutcome outcome;
  outcome.cancelled = child.end == End::Cancelled;
  outcome.printed = truncate_text(to_valid_utf8(child.err), kMaxPrintedBytes);
  for (const std::string_view line : split_lines(child.out)) {
    add_line(outcome.report, std::string(line));
  }
  for (const RunCaseReport& run_case : outcome.report.cases) {
    if (run_case.fault) {
      outcome.fault = run_case.fault;
      outcome.faulty_case = run_case.index;
    }
  }
  if (!outcome.fault && !outcome.report.complete) {
    outcome.fault = fault_of(child);
    outcome.faulty_case = outcome.report.cases.size();
  }
  return outcome;
}

} // namespace winnow::evaluators
