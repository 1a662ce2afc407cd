#include "base/error.h"
#include "base/text.h"
#include "evaluators/worker/runner.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A context takes 0.2 to 0.4 s; a cold driver takes longer.
constexpr milliseconds kStartTimeout{60'000};
constexpr milliseconds kPoll{250}; // interval between calls of `cancelled`
// The parent's deadline is later, so that the worker notices its own deadline first and names the
// kernel.
constexpr milliseconds kStandingGrace{3000};
constexpr int kFailuresBeforeQuarantine = 2;
// One candidate is tried four times at most (twice by an evaluation, and once again), so it does
// not reach this number alone.
constexpr std::size_t kKillsBeforeQuarantine = 5;
constexpr std::chrono::minutes kKillsCountFor{1};
constexpr std::size_t kMaxEnded = 4;
// From the end of a worker's output to the end of its process.
constexpr milliseconds kEndTimeout{5'000};

bool samples(const RunRequest& request) {
  return std::any_of(request.cases.begin(), request.cases.end(),
                     [](const RunCase& one) { return one.sampling.has_value(); });
}

std::string why_not_ready(const process::ChildResult& result) {
  std::string why = result.end == process::ChildResult::End::Cancelled
                        ? "the worker opened no context on the device"
                        : "the worker " + describe(result);
  if (!result.err.empty()) {
    why += ": " + truncate_text(to_valid_utf8(trim(result.err)), 500);
  }
  return why;
}

class StandingRunner final : public Runner {
public:
  StandingRunner(const process::Sandbox& sandbox, const Arena& arena, WorkerDevice device,
                 std::filesystem::path modules)
      : sandbox_(sandbox), arena_(arena), device_(std::move(device)), modules_(std::move(modules)) {
    device_.standing = true;
    start_spare();
  }
  // Kills both workers first and waits afterwards, because a driver takes a while to destroy a
  // context.
  ~StandingRunner() override {
    for (const Worker* worker : {&worker_, &spare_}) {
      if (worker->child) {
        worker->child->kill();
      }
    }
  }
  StandingRunner(const StandingRunner&) = delete; // owns its workers
  StandingRunner& operator=(const StandingRunner&) = delete;

  StageOutcome run(RunRequest request, const RunnerLimits& limits,
                   const std::function<bool()>& cancelled, const OnReport& on_report) override {
    StageOutcome outcome;
    const Clock::time_point asked = Clock::now();
    try {
      ensure_worker(samples(request));
      ask(request, limits, cancelled, on_report, outcome, asked);
    } catch (const Error& error) {
      outcome.fault = DeviceFault{Verdict::Infrastructure, error.what()};
      if (worker_.child != nullptr) {
        retire(worker_); // the rest of its answer would follow the next request
      }
    }
    return outcome;
  }

  RunnerStatistics statistics() const override { return statistics_; }
  std::string quarantine() const override { return quarantine_; }

private:
  struct Worker {
    std::unique_ptr<process::ChildProcess> child;
    bool ready = false;
  };

  Worker start() const {
    const process::SandboxPolicy policy = sandbox_policy(device_, modules_);
    return {std::make_unique<process::ChildProcess>(sandbox_.command("_run", arguments_of(device_),
                                                                     policy, standing_limits(),
                                                                     {{arena_.fd(), kArenaFd}})),
            false};
  }

  void start_spare() { spare_ = start(); }

  /// Makes sure that the worker has a context, and starts the spare. Before a timing (`quiet`) the
  /// spare must be ready, because opening a context disturbs the device.
  void ensure_worker(bool quiet) {
    if (quiet) {
      ended_.clear(); // a context that is being destroyed disturbs the device as well
    }
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
    if (quiet && spare_.child == nullptr) {
      start_spare();
    }
    if (quiet && !spare_.ready && !await(spare_)) {
      spare_ = {};
    }
  }

  /// Waits until the worker is ready. False when it failed to start. The second failure in a row
  /// quarantines the device.
  bool await(Worker& worker) {
    const auto line = worker.ready ? std::nullopt : worker.child->read_line(kStartTimeout);
    worker.ready = worker.ready || (line && is_ready(*line));
    if (worker.ready) {
      return true;
    }
    // A failing worker closes its stdout before it prints the reason. Wait, so that the reason can
    // be read.
    const Clock::time_point until = Clock::now() + kEndTimeout;
    const process::ChildResult result = worker.child->wait([&] { return Clock::now() >= until; });
    if (++failures_ >= kFailuresBeforeQuarantine) {
      quarantine_ = why_not_ready(result);
    }
    return false;
  }

  void ask(RunRequest& request, const RunnerLimits& limits, const std::function<bool()>& cancelled,
           const OnReport& on_report, StageOutcome& outcome, Clock::time_point asked) {
    Clock::time_point until = Clock::now() + limits.wall + kStandingGrace;
    request.deadline = limits.wall;
    InputsDesk desk(limits.give_inputs);
    bool alive = worker_.child->write(encode(request), limits.wall);
    count_recovery(asked);
    if (spare_.child == nullptr) {
      start_spare(); // while the worker is busy
    }
    while (alive && !outcome.report.complete && Clock::now() < until) {
      if (cancelled()) {
        outcome.cancelled = true;
        break;
      }
      if (const auto line = worker_.child->read_line(kPoll)) {
        until += take_line(*line, on_report, desk, outcome.report);
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
      retire(worker_); // a device fault, not the candidate's: the next request gets a fresh context
    }
  }

  /// Returns the time that `on_report` or the inputs took.
  Clock::duration take_line(const std::string& line, const OnReport& on_report, InputsDesk& desk,
                            RunReport& report) {
    const std::size_t cases = report.cases.size();
    const Clock::time_point start = Clock::now();
    if (!desk.serve(line, *worker_.child)) {
      add_line(report, line);
    }
    if (on_report && report.cases.size() > cases) {
      on_report(report);
    }
    return Clock::now() - start;
  }

  void replace_worker(bool reported, const RunnerLimits& limits, StageOutcome& outcome) {
    if (!reported && !outcome.cancelled) {
      outcome.fault = unreported_fault(limits);
      outcome.faulty_case = outcome.report.cases.size();
    }
    retire(worker_);
  }

  DeviceFault unreported_fault(const RunnerLimits& limits) {
    if (worker_.child->running()) {
      return {Verdict::Timeout, fmt::format("still running after {:.1f} s",
                                            std::chrono::duration<double>(limits.wall).count())};
    }
    const process::ChildResult ended = worker_.child->wait();
    if (ended.end == process::ChildResult::End::Signaled && ended.signal == SIGKILL) {
      return killed();
    }
    return fault_of_ended_worker(ended);
  }

  /// No kernel can send a signal, so the verdict is not the candidate's. A device whose workers are
  /// killed again and again is quarantined.
  DeviceFault killed() {
    const std::string by = "something outside of Winnow killed the worker (SIGKILL), for instance "
                           "the operating system for lack of memory";
    const Clock::time_point now = Clock::now();
    std::erase_if(kills_, [now](Clock::time_point at) { return now - at > kKillsCountFor; });
    kills_.push_back(now);
    if (kills_.size() >= kKillsBeforeQuarantine) {
      quarantine_ = fmt::format("{}, {} times in a minute", by, kills_.size());
    }
    return {Verdict::Infrastructure, by};
  }

  /// Kills the worker without waiting for its end. A driver may need longer to destroy a context
  /// than the next candidate should wait.
  void retire(Worker& worker) {
    worker.child->kill();
    ended_.push_back(std::move(worker.child));
    worker = {};
    ++statistics_.restarts;
    broken_at_ = Clock::now();
    while (ended_.size() > kMaxEnded || (!ended_.empty() && !ended_.front()->running())) {
      ended_.erase(ended_.begin());
    }
  }

  void count_recovery(Clock::time_point asked) {
    if (!broken_at_) {
      return;
    }
    const std::chrono::nanoseconds time = Clock::now() - std::max(asked, *broken_at_);
    broken_at_.reset();
    ++statistics_.recoveries;
    statistics_.recovery_time += time;
    statistics_.longest_recovery = std::max(statistics_.longest_recovery, time);
  }

  const process::Sandbox& sandbox_;
  const Arena& arena_;
  WorkerDevice device_;
  std::filesystem::path modules_;
  Worker worker_;
  Worker spare_;
  std::string quarantine_; ///< the reason; empty: not quarantined
  int failures_ = 0;
  std::vector<Clock::time_point> kills_;                      ///< of the last minute
  std::vector<std::unique_ptr<process::ChildProcess>> ended_; ///< killed, but perhaps not ended yet
  RunnerStatistics statistics_;
  std::optional<Clock::time_point> broken_at_; ///< set until the next request
};

} // namespace

std::unique_ptr<Runner> make_standing_runner(const process::Sandbox& sandbox, const Arena& arena,
                                             WorkerDevice device, std::filesystem::path modules) {
  return std::make_unique<StandingRunner>(sandbox, arena, std::move(device), std::move(modules));
}

} // namespace winnow::evaluators
