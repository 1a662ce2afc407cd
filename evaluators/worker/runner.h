#pragma once

#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

constexpr std::size_t kMaxPrintedBytes = 2000; ///< limit of StageOutcome::printed

/// How the run of one stage ended, as the coordinator sees it.
struct StageOutcome {
  RunReport report;
  /// The fault that ended the run early: the device's own report if there is one, otherwise how the
  /// process died.
  std::optional<DeviceFault> fault;
  std::size_t faulty_case = 0;
  std::string printed; ///< what device code printed
  bool cancelled = false;
};

/// How many workers a runner had to replace, and how long requests waited for the replacements.
struct RunnerStatistics {
  int restarts = 0;   ///< workers that were replaced because a candidate or the device broke them
  int recoveries = 0; ///< requests after such a replacement that got a ready worker
  /// Measured from the end of the broken worker's answer until a ready worker has the next request,
  /// without the time in which no request was waiting.
  std::chrono::nanoseconds recovery_time{0};
  std::chrono::nanoseconds longest_recovery{0};
};

/// Puts inputs that the reference computes into the arena. The result says why they are not there;
/// empty: they are.
using GiveInputs = std::function<std::string(const InputsNeeded&)>;

struct RunnerLimits {
  std::chrono::milliseconds wall{10'000}; ///< without the time that give_inputs takes
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  GiveInputs give_inputs = {}; ///< empty: no case has computed inputs
};

using OnReport = std::function<void(const RunReport&)>;

/// Runs cases in `_run` children of this program. Never throws because of a candidate. For one
/// thread at a time.
class Runner {
public:
  virtual ~Runner() = default;
  /// `on_report`: called with the answer so far after each case, while the worker runs the next
  /// one. Only a standing worker answers case by case. Its time limit does not count the calls.
  virtual StageOutcome run(RunRequest request, const RunnerLimits& limits,
                           const std::function<bool()>& cancelled,
                           const OnReport& on_report = {}) = 0;
  virtual RunnerStatistics statistics() const { return {}; }
  /// Why this runner will never answer a request again; empty: it still answers.
  virtual std::string quarantine() const { return {}; }
};

/// For the CPU: starts a new child for each call.
std::unique_ptr<Runner> make_fresh_runner(const process::Sandbox& sandbox, const Arena& arena);

/// For a GPU: one child keeps a context. A spare child with its own context takes over when the
/// first one breaks. If two new workers in a row cannot open a context, the device is quarantined:
/// every later call answers `infrastructure` at once. `modules` is the directory of compiled
/// modules.
std::unique_ptr<Runner> make_standing_runner(const process::Sandbox& sandbox, const Arena& arena,
                                             WorkerDevice device, std::filesystem::path modules);

/// The fault of a candidate whose worker ended without a report of its own.
DeviceFault fault_of_ended_worker(const process::ChildResult& result);

/// Limit for the text that device code prints in one stage, in bytes.
constexpr std::uint64_t kMaxPrintedByStage = 4U << 20U;

/// Answers the questions of a worker for inputs, while the request runs.
class InputsDesk {
public:
  explicit InputsDesk(const GiveInputs& give) : give_(give) {}
  /// False when the line asks for no inputs. A worker may belong to its candidate, so the number of
  /// its questions is limited.
  bool serve(const std::string& line, process::ChildProcess& worker);

private:
  const GiveInputs& give_;
  int served_ = 0;
};

/// Entry point of the hidden subcommand `_run`.
int run_worker_main(std::vector<std::string> arguments);

/// Sets fault and faulty_case from the worker's report. True when the worker reported a fault.
bool take_reported_fault(StageOutcome& outcome);

} // namespace winnow::evaluators
