// The `_run` child. For each request it loads one compiled module and runs the cases of one stage.
// On the CPU it serves one request; on a GPU it lives as long as its context. It shares its memory
// with a candidate, so the coordinator must not trust its answers.
#include "base/error.h"
#include "base/random_bits.h"
#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/case_runner.h"
#include "evaluators/worker/printed_text.h"
#include "evaluators/worker/runner.h"
#include "evaluators/worker/timed_runs.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include <unistd.h>

namespace winnow::evaluators {
namespace {

// Cases are counted together while their buffers take no more device memory than this.
constexpr std::uint64_t kCountedTogetherBytes = std::uint64_t{4} << 30;

std::uint64_t bytes_of(const tasks::ResolvedPlan& plan) {
  std::uint64_t bytes = 0;
  for (const tasks::Buffer& buffer : plan.buffers) {
    bytes += static_cast<std::uint64_t>(buffer.count) * tasks::size_bytes(buffer.dtype);
  }
  return bytes;
}

class RunWorker {
public:
  explicit RunWorker(WorkerDevice spec)
      : spec_(std::move(spec)), arena_(kArenaFd), printed_(spec_.is_gpu()) {
    if (spec_.standing) { // opens the context, which takes a while, before the first request
      RunRequest any;
      any.deadline = spec_.deadline;
      open_device(any);
      say(encode_ready());
    }
  }

  /// False when the device is no longer usable.
  bool serve(RunRequest request) {
    request_ = std::move(request);
    if (!device_) {
      open_device(request_);
    }
    if (load()) {
      run_cases();
    }
    if (!device_->usable()) {
      say(std::exchange(unsaid_, {}));
      return false;
    }
    unsaid_ += encode_findings(device_->findings()) + encode_end();
    say(std::exchange(unsaid_, {}));
    return true;
  }

private:
  void run_cases() {
    if (!request_.cases.empty() && request_.cases.front().counters) {
      count_cases();
      return;
    }
    for (current_ = 0; current_ < request_.cases.size(); ++current_) {
      RunCaseReport result = run_case(request_.cases[current_]);
      tell(result);
      if (result.fault) {
        break; // later cases would have the same fault
      }
    }
  }

  /// Counts cases together, because to begin and end a pass takes much longer than a run, and all
  /// GPUs of a host wait for one lock of the driver meanwhile.
  void count_cases() {
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < request_.cases.size(); begin = end) {
      std::uint64_t bytes = 0;
      for (end = begin; end < request_.cases.size(); ++end) {
        bytes += bytes_of(*request_.cases[end].plan);
        if (end > begin && bytes > kCountedTogetherBytes) {
          break;
        }
      }
      if (!count_cases(begin, end)) {
        return;
      }
    }
  }

  /// False after a fault: later cases would have the same fault.
  bool count_cases(std::size_t begin, std::size_t end) {
    std::vector<std::unique_ptr<CaseRunner>> runners;
    std::vector<CountedSteps> runs;
    std::optional<RunCaseReport> broken;
    for (std::size_t i = begin; i < end; ++i) {
      RunCaseReport report = guarded(i, [&](RunCaseReport& result) {
        const RunCase& run_case = request_.cases[i];
        runners.push_back(
            std::make_unique<CaseRunner>(*device_, *run_case.plan, run_case.seed, i - begin));
        runners.back()->poison(run_case.salt);
        take_computed_inputs(*runners.back(), run_case, run_case.seed);
        result.fault = runners.back()->run_prepare();
      });
      if (report.fault) {
        broken = std::move(report);
        break;
      }
      runs.push_back(runners.back()->counted_steps(request_.cases[i].salt));
      runs.back().select = [this, i, select = runs.back().select] {
        current_ = i;
        select();
      };
    }
    std::vector<profiling::CounterReport> counters;
    RunCaseReport failed = guarded(begin, [&](RunCaseReport&) {
      counters = device_->count_all(runs, *request_.cases.front().counters);
    });
    if (failed.fault) {
      failed.index = current_;
      tell(failed);
      return false;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunCaseReport report = guarded(begin + i, [&](RunCaseReport& result) {
        result.counters = counters[i];
        if (request_.cases[begin + i].plan->steps.size() > 1) {
          result.step_ns = runners[i]->step_times(request_.cases[begin + i].salt);
        }
        if (request_.cases[begin + i].energy) {
          result.energy = runners[i]->energy();
        }
        result.fault = runners[i]->verify();
      });
      tell(report);
      if (report.fault) {
        return false;
      }
    }
    if (broken) {
      tell(*broken);
    }
    return !broken;
  }

  bool load() {
    try {
      device_->load_module(request_.module);
      for (const std::filesystem::path& rival : request_.rivals) {
        device_->add_module(rival);
      }
      return true;
    } catch (const DeviceFailure& failure) {
      current_ = 0;
      report_fatal(failure.fault());
      return false;
    }
  }

  void open_device(const RunRequest& request) {
    CpuDeviceOptions options;
    options.workers = request.workers;
    options.deadline = request.deadline;
    options.on_fatal = [this](const DeviceFault& fault) { report_fatal(fault); };
    options.before_run = [this] { arena_.hide(); };
    device_ = make_worker_device(spec_, std::move(options), arena_.all());
  }

  void report_fatal(const DeviceFault& fault) {
    RunCaseReport report;
    report.index = current_;
    report.fault = fault;
    report.rival = timed_ != nullptr ? timed_->running_rival() : std::nullopt;
    say(unsaid_ + encode(report));
  }

  void say(const std::string& line) const {
    std::size_t written = 0;
    while (written < line.size()) {
      const ssize_t count =
          write(printed_.protocol_fd(), line.data() + written, line.size() - written);
      if (count <= 0) {
        return;
      }
      written += static_cast<std::size_t>(count);
    }
  }

  RunCaseReport run_case(const RunCase& run_case) {
    RunCaseReport result =
        guarded(current_, [&](RunCaseReport& report) { run_steps(run_case, report); });
    timed_ = nullptr;
    return result;
  }

  /// A report of `work` on one case.
  RunCaseReport guarded(std::size_t index, const std::function<void(RunCaseReport&)>& work) {
    RunCaseReport result;
    result.index = current_ = index;
    try {
      work(result);
    } catch (const DeviceFailure& failure) {
      result.fault = failure.fault();
    }
    return result;
  }

  /// With all that was printed since the last report. The coordinator wakes for each write. So a
  /// report waits for the end of the answer, unless the outputs are judged during the next case.
  void tell(RunCaseReport& report) {
    report.printed = printed_.take();
    unsaid_ += encode(report);
    const RunCase& told = request_.cases[report.index];
    const bool judged_meanwhile =
        !told.sampling && !told.counters && report.index + 1 < request_.cases.size();
    if (report.fault || judged_meanwhile) {
      say(std::exchange(unsaid_, {}));
    }
  }

  void run_steps(const RunCase& run_case, RunCaseReport& result) {
    if (run_case.sampling) {
      TimedRuns runs(*device_, run_case, arena_, [&](CaseRunner& runner, std::uint64_t seed) {
        take_computed_inputs(runner, run_case, seed);
      });
      timed_ = &runs; // for a fault that ends the process: names the rival
      result.fault = runs.run(result);
      return;
    }
    CaseRunner runner(*device_, *run_case.plan, run_case.seed);
    runner.poison(run_case.salt);
    take_computed_inputs(runner, run_case, run_case.seed);
    for (const ArenaSlice& input : run_case.inputs) {
      runner.upload(input.tensor, arena_.slice(input.offset, input.bytes));
    }
    result.fault = runner.run_prepare();
    result.prepare_ns = runner.prepare_ns();
    if (!result.fault) {
      result.fault = runner.run();
    }
    if (!result.fault) {
      result.fault = runner.verify();
    }
    if (!result.fault) {
      hand_over(runner, run_case);
    }
    if (!result.fault && run_case.repeat) {
      result.fault = repeat(runner, run_case, result);
    }
  }

  /// Asks the coordinator for the inputs that the reference computes from this seed. Throws
  /// DeviceFailure.
  void take_computed_inputs(CaseRunner& runner, const RunCase& run_case, std::uint64_t seed) {
    if (run_case.computed.empty()) {
      return;
    }
    say(encode(InputsNeeded{current_, seed}));
    std::string line;
    const bool answered = static_cast<bool>(std::getline(std::cin, line));
    const std::string error = answered ? decode_answered(line) : "nobody gives inputs";
    if (!error.empty()) {
      throw DeviceFailure({tasks::Verdict::Infrastructure, error});
    }
    for (const ArenaSlice& input : run_case.computed) {
      runner.upload(input.tensor, arena_.slice(input.offset, input.bytes));
    }
  }

  void hand_over(CaseRunner& runner, const RunCase& run_case) {
    for (const ArenaSlice& slice : run_case.outputs) {
      runner.download(slice.tensor, arena_.slice(slice.offset, slice.bytes));
    }
  }

  // Runs again with another poison, so that a result that depends on uninitialised memory changes,
  // too.
  std::optional<DeviceFault> repeat(CaseRunner& runner, const RunCase& run_case,
                                    RunCaseReport& result) {
    std::map<std::string, std::uint64_t> first;
    for (const ArenaSlice& slice : run_case.outputs) {
      first[slice.tensor] = runner.checksum(slice.tensor);
    }
    runner.poison(random_bits());
    if (auto fault = runner.run()) {
      return fault;
    }
    for (const ArenaSlice& slice : run_case.outputs) {
      if (runner.checksum(slice.tensor) != first[slice.tensor]) {
        result.differing = slice.tensor;
        break;
      }
    }
    return runner.verify();
  }

  WorkerDevice spec_;
  ArenaView arena_;
  PrintedText printed_;
  std::string unsaid_; ///< lines of the answer that are not written yet
  RunRequest request_;
  std::unique_ptr<Device> device_;
  const TimedRuns* timed_ = nullptr; ///< that run now, or nullptr
  std::size_t current_ = 0;
};

} // namespace

int run_worker_main(std::vector<std::string> arguments) {
  try {
    process::enter_sandbox(arguments);
    RunWorker worker(take_device_arguments(arguments));
    std::ios::sync_with_stdio(false); // reads whole blocks
    std::string line;
    while (std::getline(std::cin, line)) {
      if (!worker.serve(decode_run_request(line))) {
        return kFaultExitCode;
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "winnow _run: %s\n", error.what());
    return 1;
  }
}

} // namespace winnow::evaluators
