#pragma once

#include "evaluators/process/sandbox.h"
#include "evaluators/worker/arena.h"
#include "evaluators/worker/protocol.h"

#include <chrono>
#include <functional>
#include <string>

namespace winnow::evaluators {

/// How the run of one stage ended, seen from outside.
struct RunOutcome {
  RunReport report;
  /// What ended it early, whoever reported it: the device's own account if there is one, else how
  /// the process died.
  std::optional<DeviceFault> fault;
  std::size_t faulty_case = 0;
  std::string printed; ///< what device code printed, capped
  bool cancelled = false;
};

struct RunnerLimits {
  std::chrono::milliseconds wall{10'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

/// Runs the cases in a fresh `_run` child and waits for its end. Never throws for what the
/// candidate does.
RunOutcome run_cases(const Sandbox& sandbox, const Arena& arena, RunRequest request,
                     const RunnerLimits& limits, const std::function<bool()>& cancelled);

} // namespace winnow::evaluators
