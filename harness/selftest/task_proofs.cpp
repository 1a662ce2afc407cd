#include "base/error.h"
#include "evaluators/host/device_host.h"
#include "evaluators/selftest/reference_run.h"
#include "evaluators/timing/physical_floor.h"
#include "harness/report/terminal.h"
#include "harness/selftest/selftest_report.h"
#include "tasks/mutants/memorisable.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr unsigned kMostJobs = 8; // more wait for the GPU
constexpr unsigned kCoresOfAJob = 2;
constexpr unsigned kJobsOnCpu = 2;

/// Without a terminal, prints a line for each part that takes long.
void say(Activity& activity, const std::string& task, const std::string& part) {
  activity.count(task + ": " + part);
  if (!stderr_is_terminal()) {
    std::cerr << task + ": " + part + '\n';
  }
}

TaskSelftest prove(const tasks::Task& task, const ProofOptions& proof,
                   const std::shared_ptr<evaluators::DeviceHost>& host, Activity& activity) {
  evaluators::SelftestOptions options = proof.selftest;
  options.progress = [&](const std::string& part) { activity.count(task.name + ": " + part); };
  evaluators::Selftest selftest(task, host, options);
  TaskSelftest result;
  result.task = task.name;
  result.digest = task.digest;
  result.precision = task.tolerance.accumulate;
  result.memorisable = tasks::why_timings_can_be_memorised(task, host->device.kind);
  result.doubts = selftest.doubts();
  say(activity, task.name, "mutants");
  result.mutants = selftest.mutants();
  say(activity, task.name, "narrowed intermediates");
  result.narrowed = selftest.narrowed();
  say(activity, task.name, "honest kernels");
  result.honest = selftest.honest();
  result.wrong = selftest.wrong();
  activity.count(task.name);
  if (task.torch) {
    result.is_module = true;
    result.reference.detail = "reference.py is the reference";
    return result;
  }
  activity.wait_for({"reference.py", "runs in PyTorch", proof.agreement.timeout});
  result.reference = check_reference(task, selftest, proof.agreement);
  return result;
}

/// How long the proof of a task takes, in no unit: an element, which several processes move and
/// compare, takes as long as a hundred operations.
double expected_work(const tasks::Task& task, const std::string& device_kind) {
  constexpr double kOperationsOfAnElement = 100;
  double work = 0;
  for (const tasks::Shape& shape : evaluators::shapes_for(task, device_kind)) {
    work += evaluators::least_work(task, shape).operations;
    for (const tasks::TensorSpec& tensor : task.tensors) {
      work += kOperationsOfAnElement * static_cast<double>(tasks::element_count(tensor, shape));
    }
  }
  return work;
}

// Hands the tasks out to the threads, the longest first, and keeps what they found. Several tasks
// may need more memory than the device has, so one that fails beside others is proved again alone.
class Proofs {
public:
  Proofs(const std::vector<tasks::Task>& tasks, const std::string& device_kind,
         const ProofOptions& options, Activity& activity)
      : tasks_(tasks), options_(options), activity_(activity), found_(tasks.size()) {
    std::multimap<double, std::size_t, std::greater<>> by_work;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      by_work.emplace(expected_work(tasks[i], device_kind), i);
    }
    for (const auto& [work, i] : by_work) {
      order_.push_back(i);
    }
  }

  void work(const std::shared_ptr<evaluators::DeviceHost>& host) {
    for (std::size_t next = next_++; next < order_.size(); next = next_++) {
      try_one(order_[next], host, [&](const std::string&) {
        const std::lock_guard lock(mutex_);
        again_.push_back(order_[next]);
      });
    }
  }

  /// When all threads have ended.
  void work_again(const std::shared_ptr<evaluators::DeviceHost>& host) {
    if (error_) {
      return;
    }
    for (const std::size_t i : again_) {
      try_one(i, host, [&](const std::string& failure) {
        found_[i].task = tasks_[i].name;
        found_[i].digest = tasks_[i].digest;
        found_[i].failure = failure;
        say_result(i);
      });
    }
  }

  /// Opens the device once more for this thread.
  void work_beside(const evaluators::DeviceHost& open) {
    try {
      const evaluators::EvaluationOptions& machine = options_.selftest.evaluation;
      work(evaluators::open_beside(open, machine, machine.run_timeout));
    } catch (...) {
      stop(std::current_exception());
    }
  }

  void stop(std::exception_ptr error) {
    next_ = order_.size();
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
    }
  }

  std::vector<TaskSelftest> take() {
    if (error_) {
      std::rethrow_exception(error_);
    }
    return std::move(found_);
  }

private:
  template <typename OnFailure>
  void try_one(std::size_t i, const std::shared_ptr<evaluators::DeviceHost>& host,
               const OnFailure& failed) {
    try {
      const auto start = std::chrono::steady_clock::now();
      found_[i] = prove(tasks_[i], options_, host, activity_);
      found_[i].seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      say_result(i);
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceUnavailable&) {
      throw;
    } catch (const Error& error) {
      if (tasks_.size() == 1) {
        throw;
      }
      failed(error.what());
    }
  }

  void say_result(std::size_t i) {
    if (tasks_.size() == 1) {
      return; // the report comes at once
    }
    const std::string said = is_proven(found_[i]) ? fmt::format("{}: proven in {:.0f} s\n",
                                                                tasks_[i].name, found_[i].seconds)
                                                  : task_lines(found_[i]);
    activity_.away([&] { std::cerr << said; });
  }

  const std::vector<tasks::Task>& tasks_;
  std::vector<std::size_t> order_; ///< of the tasks
  const ProofOptions& options_;
  Activity& activity_;
  std::vector<TaskSelftest> found_; ///< each by the thread that took its task
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;               ///< guards error_ and again_
  std::vector<std::size_t> again_; ///< the tasks that failed beside others
  std::exception_ptr error_;
};

} // namespace

unsigned suitable_jobs(const evaluators::DeviceReport& device) {
  return device.kind == "cpu"
             ? kJobsOnCpu
             : std::clamp(std::thread::hardware_concurrency() / kCoresOfAJob, 1U, kMostJobs);
}

std::vector<TaskSelftest> prove_tasks(const std::vector<tasks::Task>& tasks,
                                      const std::shared_ptr<evaluators::DeviceHost>& host,
                                      const ProofOptions& options, Activity& activity) {
  const unsigned jobs = options.jobs > 0 ? options.jobs : suitable_jobs(host->device);
  Proofs proofs(tasks, host->device.kind, options, activity);
  {
    std::vector<std::jthread> beside;
    for (std::size_t i = 1; i < std::min<std::size_t>(jobs, tasks.size()); ++i) {
      beside.emplace_back([&] { proofs.work_beside(*host); });
    }
    try {
      proofs.work(host);
    } catch (...) {
      proofs.stop(std::current_exception());
    }
  }
  proofs.work_again(host);
  return proofs.take();
}

namespace {

using evaluators::KernelResult;

constexpr double kLoose = 0.1; // kernels of the catalogue reach 0.2

/// The largest error of the honest kernels, relative to the limit; 0 if there is none.
double worst_of_kernels(const TaskSelftest& selftest) {
  double worst = 0;
  for (const KernelResult& result : selftest.honest) {
    // reference.cu rounds only once, so its error is the smallest
    const bool kernel = result.file != "reference.cu";
    if (kernel && result.state == KernelResult::State::Accepted) {
      worst = std::max(worst, result.max_error_ratio);
    }
  }
  return worst;
}

std::string loose_tolerance(const TaskSelftest& selftest) {
  const double worst = worst_of_kernels(selftest);
  // If the task allows a lower precision than f32, honest kernels may still compute in f32, so
  // their errors say nothing. An error of 0 means that every operation is exact.
  // A module's limits follow from the errors of its own operations.
  const bool comparable = !selftest.is_module && tasks::epsilon(selftest.precision) <=
                                                     tasks::epsilon(tasks::Precision::F32);
  if (!comparable || worst <= 0 || worst >= kLoose) {
    return {};
  }
  return fmt::format(
      "the error of honest kernels is at most {:.2g} of the limit: the limit may be too large "
      "(`multiple` in [tolerance], or the magnitude in reference.cu); a usual limit is 2 to 10 "
      "times this error",
      worst);
}

std::string no_marks(const TaskSelftest& selftest) {
  const bool needs_marks = !selftest.is_module && selftest.precision != tasks::Precision::Int;
  return needs_marks && selftest.narrowed.empty()
             ? "no intermediate is marked in reference.cu, so nothing shows that the limit refuses "
               "coarser ones: mark them as NARROW(name, expression)"
             : "";
}

} // namespace

std::vector<std::string> warnings(const TaskSelftest& selftest) {
  std::vector<std::string> all = selftest.doubts;
  for (std::string warning :
       {selftest.memorisable, loose_tolerance(selftest), no_marks(selftest)}) {
    if (!warning.empty()) {
      all.push_back(std::move(warning));
    }
  }
  return all;
}

} // namespace winnow::harness
