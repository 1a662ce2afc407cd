#include "base/error.h"
#include "base/text.h"
#include "evaluators/worker/runner.h"

#include <csignal>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using Clock = std::chrono::steady_clock;
using End = process::ChildResult::End;

// The parent's deadline is later, so that the worker notices its own deadline first and reports
// where the kernel hangs.
constexpr std::chrono::milliseconds kFreshGrace{1000};
constexpr std::chrono::milliseconds kFreshPoll{50};
constexpr std::chrono::seconds kEndsWithin{10}; // after its answer
// The most questions for inputs in one request.
constexpr int kMostServed = 2000;
constexpr std::chrono::seconds kServedWithin{10}; // the worker waits for this line

class FreshRunner final : public Runner {
public:
  FreshRunner(const process::Sandbox& sandbox, const Arena& arena)
      : sandbox_(sandbox), arena_(arena) {}

  StageOutcome run(RunRequest request, const RunnerLimits& limits,
                   const std::function<bool()>& cancelled, const OnReport& /*on_report*/) override {
    request.deadline = limits.wall;
    StageOutcome outcome;
    const process::ChildResult child =
        limits.give_inputs
            ? converse(request, limits, cancelled, outcome.report)
            : process::run_child(command(request, limits), encode(request), cancelled);
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
  /// As process::run_child(), and answers the child's questions for inputs. The time for inputs
  /// does not count.
  process::ChildResult converse(const RunRequest& request, const RunnerLimits& limits,
                                const std::function<bool()>& cancelled, RunReport& report) const {
    process::Command child_command = command(request, limits);
    const Clock::duration allowed = child_command.limits.wall;
    child_command.limits.wall = std::chrono::milliseconds(0);
    try {
      process::ChildProcess child(child_command);
      const bool late = talk(child, request, limits, allowed, cancelled, report);
      child.close_stdin();
      const Clock::time_point end = Clock::now() + (late ? Clock::duration() : kEndsWithin);
      process::ChildResult result = child.wait([&] { return cancelled() || Clock::now() >= end; });
      if (result.end == End::Cancelled && !cancelled()) {
        result.end = End::WallTimeout;
      }
      return result;
    } catch (const Error& error) {
      process::ChildResult failed;
      failed.error = error.what();
      return failed;
    }
  }

  /// Reads the child's answer. True when the child took too long.
  static bool talk(process::ChildProcess& child, const RunRequest& request,
                   const RunnerLimits& limits, Clock::duration allowed,
                   const std::function<bool()>& cancelled, RunReport& report) {
    InputsDesk desk(limits.give_inputs);
    Clock::time_point until = Clock::now() + allowed;
    bool alive = child.write(encode(request), limits.wall);
    while (alive && !report.complete && Clock::now() < until && !cancelled()) {
      const auto line = child.read_line(kFreshPoll);
      const Clock::time_point start = Clock::now();
      if (line && desk.serve(*line, child)) {
        until += Clock::now() - start;
      } else if (line) {
        add_line(report, *line);
      } else {
        alive = child.running();
      }
    }
    return !report.complete && Clock::now() >= until;
  }

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

bool InputsDesk::serve(const std::string& line, process::ChildProcess& worker) {
  const auto needed = decode_inputs_needed(line);
  if (!needed) {
    return false;
  }
  const std::string error = !give_                    ? "the reference computes no input"
                            : ++served_ > kMostServed ? "the worker asks for inputs too often"
                                                      : give_(*needed);
  worker.write(encode_answered(error), kServedWithin);
  return true;
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
