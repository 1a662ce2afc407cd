// Measures how many candidates one machine judges in full in a minute. N different kernels are
// queued at once and compiled without a cache. Each is judged on tiny shapes with three seeds and
// on search shapes, timed beside the baseline, and judged on promotion shapes.
//   throughput_bench [--device cuda:0,cuda:1] [--faults F] [--counters fast|full]
//                    [--task TASK KERNEL_FILE] [--broker URL --pool POOL] [N=500]
// The kernels are axpy kernels, or copies of KERNEL_FILE that differ in a variable. F of the axpy
// kernels trap. On a GPU a trap breaks the worker, so the next candidate waits for a new one.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/evaluation/profile.h"
#include "evaluators/workers.h"
#include "harness/judging_devices.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

namespace {

namespace evaluators = winnow::evaluators;
namespace tasks = winnow::tasks;
using Clock = std::chrono::steady_clock;

// Correct kernels with different machine code. They differ in the number of elements per thread and
// in a value of alpha for which the answer would be wrong; no input comes near this value.
std::string axpy_kernel(int number, bool faulty) {
  return fmt::format(R"cu(/*@winnow
{{ "launches": [ {{ "kernel": "axpy", "grid": ["ceil_div(n, 256 * {0})"], "block": [256],
                   "args": ["x", "y", "z", "n", "alpha"] }} ] }}
@*/
extern "C" __global__ void axpy(const float* x, const float* y, float* z, int n, float alpha) {{
  {2}int first = blockIdx.x * (256 * {0}) + threadIdx.x;
  for (int k = 0; k < {0}; ++k) {{
    int i = first + k * 256;
    if (i < n) z[i] = alpha * x[i] + (alpha == {1}.5f ? 0.f : y[i]);
  }}
}}
)cu",
                     1 + number % 8, 1000 + number, faulty ? "__trap(); " : "");
}

using MakeKernel = std::function<std::string(int number, bool faulty)>;

MakeKernel copies_of(const std::string& file) {
  constexpr std::uint64_t kMaxBytes = 1U << 20U;
  return [text = winnow::read_file(file, kMaxBytes)](int number, bool) {
    return fmt::format("{}\n__device__ int number_of_copy = {};\n", text, number);
  };
}

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double milliseconds_of_counting(const evaluators::EvaluationResult& result) {
  double sum = 0;
  for (const tasks::Evaluation& evaluation : result.evaluations) {
    for (const evaluators::ProfiledShape& profiled : evaluators::profile_of(evaluation)) {
      sum += profiled.shape.counters.collect_ms;
    }
  }
  return sum;
}

double cpu_seconds_of_coordinator() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void print(const evaluators::HostStatistics& spent) {
  if (spent.worker_restarts == 0) {
    return;
  }
  std::printf("%d workers broken; the next candidate waited for another %.0f ms on average, %.0f "
              "ms at most\n",
              spent.worker_restarts, 1e3 * spent.recovery_seconds / std::max(1, spent.recoveries),
              1e3 * spent.longest_recovery_seconds);
}

void judge_all(const tasks::Task& task, const evaluators::Protocol& protocol,
               const evaluators::DevicePool& devices, const MakeKernel& make, int count,
               int faults) {
  std::mutex mutex;
  std::map<tasks::Verdict, int> verdicts;
  std::vector<Clock::time_point> results;
  double counting_ms = 0;
  std::latch done(count);
  const double cpu_before = cpu_seconds_of_coordinator();
  const Clock::time_point start = Clock::now();
  const auto evaluations = devices.evaluations([&](const evaluators::EvaluationResult& result) {
    const std::lock_guard lock(mutex);
    ++verdicts[result.evaluations.empty() ? tasks::Verdict::Infrastructure
                                          : result.evaluations.front().verdict];
    counting_ms += milliseconds_of_counting(result);
    results.push_back(Clock::now());
    done.count_down();
  });
  evaluators::EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(task);
  request.protocol = protocol;
  for (int i = 0; i < count; ++i) {
    const bool faulty = (i + 1) * faults / count != i * faults / count; // faults are spread evenly
    request.id = request.file_name = fmt::format("{}_{}.cu", task.name, i);
    request.text = make(i, faulty);
    evaluations->submit(request);
  }
  done.wait();
  const double seconds = seconds_between(start, Clock::now());
  const double cpu = cpu_seconds_of_coordinator() - cpu_before;
  evaluations->stop();
  std::printf("%s", devices.account(static_cast<std::size_t>(count), seconds).c_str());
  // The first half contains the start of the workers and the measurement of the ceilings.
  if (count > 1) {
    const auto middle = results.begin() + count / 2 - 1;
    const auto later = static_cast<double>(results.end() - middle - 1);
    std::printf("second half: %.0f a minute\n",
                60 * later / seconds_between(*middle, results.back()));
  }
  std::printf("counters took %.1f ms a candidate\n", counting_ms / count);
  std::printf("the coordinator used %.1f %% of a core, %.1f ms a candidate\n", 100 * cpu / seconds,
              1e3 * cpu / count);
  print(devices.statistics());
  for (const auto& [verdict, number] : verdicts) {
    std::printf("%d %s\n", number, std::string(to_string(verdict)).c_str());
  }
}

} // namespace

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  evaluators::EvaluationOptions options;
  options.tiny_seeds = 3;
  options.counters = evaluators::Counting::Off;
  winnow::harness::BrokerOptions broker;
  int count = 500;
  int faults = 0;
  std::string task_name = "axpy";
  std::string file;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--device" && i + 1 < argc) {
      options.device = argv[++i];
    } else if (std::string_view(argv[i]) == "--broker" && i + 1 < argc) {
      broker.url = argv[++i];
    } else if (std::string_view(argv[i]) == "--pool" && i + 1 < argc) {
      broker.pool = argv[++i];
    } else if (std::string_view(argv[i]) == "--counters" && i + 1 < argc) {
      options.counters = evaluators::counting_from_string(argv[++i]).value();
    } else if (std::string_view(argv[i]) == "--faults" && i + 1 < argc) {
      faults = std::clamp(std::atoi(argv[++i]), 0, 100'000);
    } else if (std::string_view(argv[i]) == "--task" && i + 2 < argc) {
      task_name = argv[++i];
      file = argv[++i];
    } else {
      count = std::atoi(argv[i]);
    }
  }
  try {
    const winnow::TemporaryDirectory cache("throughput-cache");
    options.cache = cache.path();
    const tasks::Task task = tasks::find_task(tasks::find_catalogue(), task_name);
    judge_all(task, options, *winnow::harness::open_devices(options, options.run_timeout, broker),
              file.empty() ? axpy_kernel : copies_of(file), count, faults);
    return 0;
  } catch (const winnow::Error& error) {
    std::fprintf(stderr, "%s; %s\n", error.what(), error.remedy().c_str());
    return 1;
  }
}
