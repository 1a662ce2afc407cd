// The `_run` child: loads one compiled module and runs the cases of one stage. Everything it says
// is taken with care: it shares its memory with a candidate.
#include "base/error.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/evaluator.h"
#include "evaluators/process/sandbox.h"
#include "evaluators/timing/sampling.h"
#include "evaluators/worker/arena.h"
#include "evaluators/worker/case_runner.h"
#include "evaluators/worker/protocol.h"

#include <atomic>
#include <cstdio>
#include <iostream>
#include <string>

#include <unistd.h>

namespace winnow::evaluators {
namespace {

void say(const std::string& line) {
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(STDOUT_FILENO, line.data() + written, line.size() - written);
    if (count <= 0) {
      return;
    }
    written += static_cast<std::size_t>(count);
  }
}

class RunWorker {
public:
  explicit RunWorker(RunRequest request) : request_(std::move(request)), arena_(kArenaFd) {
    CpuDeviceOptions options;
    options.workers = request_.workers;
    options.deadline = request_.deadline;
    options.on_fatal = [this](const DeviceFault& fault) { report({current_, fault, {}}); };
    device_ = make_cpu_device(std::move(options));
  }

  void run() {
    device_->load_module(request_.module);
    for (current_ = 0; current_ < request_.cases.size(); ++current_) {
      RunCaseReport result = run_case(request_.cases[current_]);
      const bool failed = result.fault.has_value();
      report(result);
      if (failed) {
        break; // later cases would only repeat it
      }
    }
    say(encode_findings(device_->findings()));
    say(encode_end());
  }

private:
  static void report(const RunCaseReport& result) { say(encode(result)); }

  RunCaseReport run_case(const RunCase& run_case) {
    RunCaseReport result{current_, std::nullopt, {}};
    CaseRunner runner(*device_, run_case.plan, run_case.seed);
    runner.prepare(run_case.salt);
    if (run_case.sampling) {
      result.fault = sample(runner, *run_case.sampling, result.samples_ns);
      if (!result.fault) {
        runner.prepare(run_case.salt); // the answer that is judged comes from a launch of its own
      }
    }
    if (!result.fault) {
      result.fault = runner.run();
    }
    if (!result.fault) {
      result.fault = runner.verify();
    }
    if (!result.fault) {
      for (const ArenaSlice& slice : run_case.outputs) {
        runner.download(slice.tensor, arena_.slice(slice.offset, slice.bytes));
      }
    }
    return result;
  }

  std::optional<DeviceFault> sample(CaseRunner& runner, const SamplingRequest& sampling,
                                    std::vector<double>& samples_ns) {
    double spent_ns = 0;
    for (int i = 0; more_samples(sampling, samples_ns, spent_ns); ++i) {
      runner.restore();
      if (auto fault = runner.run_timed()) {
        return fault;
      }
      const auto nanoseconds = static_cast<double>(device_->elapsed().count());
      spent_ns += nanoseconds;
      // A warm-up launch that alone exceeds the budget counts: slow kernels get no second one.
      if (i >= sampling.warmup ||
          nanoseconds > static_cast<double>(std::chrono::nanoseconds(sampling.budget).count())) {
        samples_ns.push_back(nanoseconds);
      }
    }
    return std::nullopt;
  }

  RunRequest request_;
  ArenaView arena_;
  std::unique_ptr<Device> device_;
  std::size_t current_ = 0;
};

} // namespace

int run_worker_main(std::vector<std::string> arguments) {
  try {
    enter_sandbox(arguments);
    std::string line;
    if (!std::getline(std::cin, line)) {
      throw Error("_run: no request on stdin");
    }
    RunWorker(decode_run_request(line)).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "winnow _run: %s\n", error.what());
    return 1;
  }
}

} // namespace winnow::evaluators
