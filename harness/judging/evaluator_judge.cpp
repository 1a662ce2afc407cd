#include "harness/judging/evaluator_judge.h"

#include "base/text.h"
#include "harness/judging/precheck.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr int kCoresOfADevice = 2; // one for this process's thread, one for the worker or the judge

} // namespace

std::vector<tasks::Evaluation> EvaluatorJudge::judge(std::string_view text, std::string file_name,
                                                     std::size_t max_variants) {
  if (!precheck_.empty()) {
    const auto start = std::chrono::steady_clock::now();
    PrecheckAnswer answer = precheck(precheck_, text);
    if (answer.outcome != PrecheckAnswer::Outcome::Passed) {
      const bool refused = answer.outcome == PrecheckAnswer::Outcome::Refused;
      tasks::Evaluation evaluation =
          evaluator_.not_begun(refused ? tasks::Verdict::Refused : tasks::Verdict::Infrastructure,
                               std::move(answer.detail));
      evaluation.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return {std::move(evaluation)};
    }
  }
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file_name);
  if (!parsed.kernel_file) {
    // The evaluation reports the mistakes of the text.
    return {evaluator_.evaluate_text(text, std::move(file_name))};
  }
  return evaluator_.evaluate_family(*parsed.kernel_file, max_variants);
}

std::string digest_of(const KernelToBeat& kernel) {
  return tasks::kernel_digest(kernel.text, kernel.parameters);
}

void EvaluatorJudge::race_against(const KernelToBeat* kernel) {
  std::optional<evaluators::Incumbent> incumbent;
  if (kernel != nullptr) {
    tasks::KernelFileResult parsed = tasks::parse_kernel_file(kernel->text, "to_beat.cu");
    if (parsed.kernel_file) {
      incumbent = {std::move(*parsed.kernel_file), kernel->parameters, digest_of(*kernel)};
    }
  }
  evaluator_.set_incumbent(std::move(incumbent));
}

OpenDevices::OpenDevices(const evaluators::EvaluationOptions& options) : options_(options) {
  require_precheck_program(options.precheck);
  reports_ = evaluators::select_devices(options.device);
  for (const evaluators::DeviceReport& report : reports_) {
    hosts_.push_back(evaluators::open_device(report, options_));
  }
}

OpenDevices::~OpenDevices() {
  std::vector<std::thread> threads;
  for (auto& host : hosts_) {
    threads.emplace_back([&host] { host.reset(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::string OpenDevices::names() const {
  std::vector<std::string> ids;
  ids.reserve(reports_.size());
  for (const evaluators::DeviceReport& report : reports_) {
    ids.push_back(report.id);
  }
  return join(ids, ",");
}

std::vector<JudgeFactory> OpenDevices::judges() const {
  std::vector<JudgeFactory> factories;
  for (const auto& host : hosts_) {
    factories.emplace_back([host, options = options_](const tasks::Task& task) {
      return std::make_unique<EvaluatorJudge>(task, host, options);
    });
  }
  return factories;
}

JudgePoolSetup OpenDevices::pool() const {
  JudgePoolSetup setup;
  setup.devices = judges();
  if (first().kind != "cpu") {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    const int kept = kCoresOfADevice * static_cast<int>(hosts_.size());
    setup.compile_threads = static_cast<unsigned>(std::max(1, cores - kept));
    setup.compile_ahead = [host = hosts_.front(), promotion = options_.promotion](
                              const JudgeJob& job, const std::function<bool()>& cancelled) {
      evaluators::compile_ahead(*host, *job.task, job.text, job.file_name, job.max_variants,
                                cancelled, promotion);
    };
  }
  return setup;
}

evaluators::HostStatistics OpenDevices::statistics() const {
  evaluators::HostStatistics sum;
  for (const auto& host : hosts_) {
    const evaluators::HostStatistics one = evaluators::statistics(*host);
    sum.run_seconds += one.run_seconds;
    sum.judge_seconds += one.judge_seconds;
    sum.compile_seconds += one.compile_seconds;
    sum.judge_starts += one.judge_starts;
    sum.worker_restarts += one.worker_restarts;
    sum.recoveries += one.recoveries;
    sum.recovery_seconds += one.recovery_seconds;
    sum.longest_recovery_seconds =
        std::max(sum.longest_recovery_seconds, one.longest_recovery_seconds);
  }
  return sum;
}

std::string OpenDevices::account(std::size_t candidates, double seconds) const {
  const evaluators::HostStatistics spent = statistics();
  const double all = seconds * static_cast<double>(hosts_.size()) / 100;
  const double known = spent.run_seconds + spent.judge_seconds + spent.compile_seconds;
  return fmt::format(
      "{} candidates in {:.1f} s: {:.0f} a minute\nof the devices' time workers ran {:.0f} %, the "
      "judge compared {:.0f} %, compilers were waited for {:.0f} %, the rest is {:.0f} %\n",
      candidates, seconds, static_cast<double>(candidates) * 60 / seconds, spent.run_seconds / all,
      spent.judge_seconds / all, spent.compile_seconds / all, 100 - known / all);
}

} // namespace winnow::harness
