#pragma once

#include "evaluators/worker/arena.h"
#include "evaluators/worker/protocol.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace winnow::evaluators {

constexpr std::size_t kMaxPrintedBytes = 2000; ///< of RunOutcome::printed

/// How the run of one stage ended, seen from outside.
struct RunOutcome {
  RunReport report;
  /// What ended it early, whoever reported it: the device's own account if there is one, else how
  /// the process died.
  std::optional<DeviceFault> fault;
  std::size_t faulty_case = 0;
  std::string printed; ///< what device code printed
  bool cancelled = false;
};

/// What candidates, or the device, have cost a runner in workers.
struct RunnerStatistics {
  int restarts = 0;   ///< workers that had to be replaced
  int recoveries = 0; ///< requests that came next and found a worker that was ready
  /// From the end of the broken worker's answer to the moment at which another that is ready had
  /// the next request, less the time in which there was no request.
  std::chrono::nanoseconds recovery_time{0};
  std::chrono::nanoseconds longest_recovery{0};
};

struct RunnerLimits {
  std::chrono::milliseconds wall{10'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

/// Runs cases in `_run` children of this program. Never throws for what a candidate does. One
/// thread at a time.
class Runner {
public:
  virtual ~Runner() = default;
  virtual RunOutcome run(RunRequest request, const RunnerLimits& limits,
                         const std::function<bool()>& cancelled) = 0;
  virtual RunnerStatistics statistics() const { return {}; }
  /// Why no request will ever be answered again; empty: they will.
  virtual std::string quarantine() const { return {}; }
};

/// For the cpu: a fresh child for each call.
std::unique_ptr<Runner> make_fresh_runner(const process::Sandbox& sandbox, const Arena& arena);

/// For a GPU: one child that keeps the context, and a spare with a context of its own that takes
/// over when the first breaks. A device that cannot even give a fresh worker a context, twice in a
/// row, is quarantined: every later call answers `infrastructure` at once. `modules` is the
/// directory that holds compiled modules.
std::unique_ptr<Runner> make_standing_runner(const process::Sandbox& sandbox, const Arena& arena,
                                             WorkerDevice device, std::filesystem::path modules);

/// What the end of a worker that has not reported its own fault means for the candidate.
DeviceFault fault_of_ended_worker(const process::ChildResult& result);

/// Device code may print this much in one stage.
constexpr std::uint64_t kMaxPrintedByStage = 4U << 20U;

/// Sets fault and faulty_case from what the worker reported; true when it reported one.
bool take_reported_fault(RunOutcome& outcome);

} // namespace winnow::evaluators
