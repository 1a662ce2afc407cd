#include "base/error.h"
#include "base/text.h"
#include "evaluators/worker/runner.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStartTimeout{60'000}; // a context takes 0.2 to 0.4 s, a cold driver longer
constexpr milliseconds kPoll{50};
// The worker notices its own deadline first and can name the kernel; the parent's comes later.
constexpr milliseconds kGrace{3000};
constexpr int kFailuresBeforeQuarantine = 2;
constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 20U; // what device code prints, capped
constexpr std::size_t kMaxPrintedBytes = 2000;

bool samples(const RunRequest& request) {
  return std::any_of(request.cases.begin(), request.cases.end(),
                     [](const RunCase& one) { return one.sampling.has_value(); });
}

class StandingRunner final : public Runner {
public:
  StandingRunner(const Sandbox& sandbox, const Arena& arena, WorkerDevice device,
                 std::filesystem::path modules)
      : sandbox_(sandbox), arena_(arena), device_(std::move(device)), modules_(std::move(modules)) {
    device_.standing = true;
    start_spare();
  }

  RunOutcome run(RunRequest request, const RunnerLimits& limits,
                 const std::function<bool()>& cancelled) override {
    RunOutcome outcome;
    try {
      ensure_worker(samples(request));
      ask(request, limits, cancelled, outcome);
    } catch (const Error& error) {
      outcome.fault = DeviceFault{Verdict::Infrastructure, error.what()};
    }
    return outcome;
  }

  int restarts() const override { return restarts_; }

private:
  struct Worker {
    std::unique_ptr<ChildProcess> child;
    bool ready = false;
  };

  Worker start() const {
    Limits limits;
    limits.wall = milliseconds(0);    // each request has a limit instead
    limits.output_bytes = kFileBytes; // of one answer
    limits.file_bytes = kFileBytes;
    const SandboxPolicy policy = sandbox_policy(device_, modules_);
    return {std::make_unique<ChildProcess>(sandbox_.command("_run", arguments_of(device_), policy,
                                                            limits, {{arena_.fd(), kArenaFd}})),
            false};
  }

  void start_spare() { spare_ = start(); }

  /// A worker with a context, and another on its way. Before a timing the other must have arrived:
  /// making a context disturbs the device.
  void ensure_worker(bool quiet) {
    while (worker_.child == nullptr) {
      if (!quarantine_.empty()) {
        throw Error(fmt::format("{} is quarantined: {}", device_.device, quarantine_));
      }
      if (spare_.child == nullptr) {
        start_spare();
      }
      if (await(spare_)) {
        worker_ = std::move(spare_);
        failures_ = 0;
      }
      spare_ = {};
    }
    if (spare_.child == nullptr) {
      start_spare();
    }
    if (quiet && !spare_.ready && !await(spare_)) {
      spare_ = {};
    }
  }

  /// False when it did not come up; counts that, and quarantines the device the second time.
  bool await(Worker& worker) {
    const auto line = worker.ready ? std::nullopt : worker.child->read_line(kStartTimeout);
    worker.ready = worker.ready || (line && is_ready(*line));
    if (worker.ready) {
      return true;
    }
    worker.child->kill();
    const DeviceFault fault = fault_of_ended_worker(worker.child->wait());
    if (++failures_ >= kFailuresBeforeQuarantine) {
      quarantine_ = fault.detail;
    }
    return false;
  }

  void ask(RunRequest& request, const RunnerLimits& limits, const std::function<bool()>& cancelled,
           RunOutcome& outcome) {
    const Clock::time_point until = Clock::now() + limits.wall + kGrace;
    request.deadline = limits.wall;
    bool alive = worker_.child->write(encode(request), limits.wall);
    while (alive && !outcome.report.complete && Clock::now() < until) {
      if (cancelled()) {
        outcome.cancelled = true;
        break;
      }
      if (const auto line = worker_.child->read_line(kPoll)) {
        add_line(outcome.report, *line);
      } else {
        alive = worker_.child->running();
      }
    }
    for (const RunCaseReport& run_case : outcome.report.cases) {
      outcome.printed += run_case.printed;
    }
    outcome.printed = truncate_text(to_valid_utf8(outcome.printed), kMaxPrintedBytes);
    const bool reported = take_reported_fault(outcome);
    if (!outcome.report.complete) {
      replace_worker(reported, limits, outcome);
    } else if (reported && outcome.fault->verdict == Verdict::Infrastructure) {
      retire(worker_); // the device, not the candidate: the next one gets a fresh context
    }
  }

  void replace_worker(bool reported, const RunnerLimits& limits, RunOutcome& outcome) {
    const bool running = worker_.child->running();
    worker_.child->kill();
    DeviceFault fault = fault_of_ended_worker(worker_.child->wait());
    worker_ = {};
    ++restarts_;
    if (reported || outcome.cancelled) {
      return;
    }
    if (running) {
      fault = {Verdict::Timeout, fmt::format("still running after {:.1f} s",
                                             std::chrono::duration<double>(limits.wall).count())};
    }
    outcome.fault = std::move(fault);
    outcome.faulty_case = outcome.report.cases.size();
  }

  void retire(Worker& worker) {
    worker.child->kill();
    worker.child->wait();
    worker = {};
    ++restarts_;
  }

  const Sandbox& sandbox_;
  const Arena& arena_;
  WorkerDevice device_;
  std::filesystem::path modules_;
  Worker worker_;
  Worker spare_;
  std::string quarantine_; ///< why; empty: it is not
  int failures_ = 0;
  int restarts_ = 0;
};

} // namespace

std::unique_ptr<Runner> make_standing_runner(const Sandbox& sandbox, const Arena& arena,
                                             WorkerDevice device, std::filesystem::path modules) {
  return std::make_unique<StandingRunner>(sandbox, arena, std::move(device), std::move(modules));
}

} // namespace winnow::evaluators
