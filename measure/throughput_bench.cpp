// Measures how many candidates one machine judges in full in a minute. N different kernels are
// queued at once and compiled without a cache. Each is judged on tiny shapes with three seeds and
// on search shapes, timed beside the baseline, and judged on promotion shapes.
//   throughput_bench [--device cuda:0,cuda:1 | --gpus 1,2,4] [--faults F] [--counters fast|full]
//                    [--task TASK KERNEL_FILE] [--broker URL --pool POOL] [N=500]
// The kernels are axpy kernels, or copies of KERNEL_FILE that differ in a variable. F of the axpy
// kernels trap. On a GPU a trap breaks the worker, so the next candidate waits for a new one.
// --gpus compares numbers of GPUs: it judges N kernels for each GPU, F of them faulty, with the
// first GPU, then with the first two, and so on, and prints a row for each. The GPUs can be
// simulated: WINNOW_CUDA_LIBRARY=.../libsimulated_gpus.so (docs/measurements/scale.md).
#include "base/error.h"
#include "base/files.h"
#include "evaluators/workers.h"
#include "harness/machine/judging_devices.h"
#include "measure/measured_throughput.h"
#include "tasks/catalogue.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

namespace evaluators = winnow::evaluators;
namespace tasks = winnow::tasks;
using winnow::MakeKernel;
using winnow::MeasuredThroughput;

// Correct kernels with different machine code. They differ in the number of elements per thread and
// in a value of alpha for which the answer would be wrong; no input comes near this value. Names
// and arguments are those that simulated GPUs know (measure/simulated_gpus/kernels.h).
std::string axpy_kernel(int number, bool faulty) {
  return fmt::format(R"cu(/*@winnow
{{ "launches": [ {{ "kernel": "{2}", "grid": ["ceil_div(n, 256 * {0})"], "block": [256],
                   "args": ["x", "y", "z", "alpha", "n"] }} ] }}
@*/
extern "C" __global__ void {2}(const float* x, const float* y, float* z, float alpha, int n) {{
  {3}int first = blockIdx.x * (256 * {0}) + threadIdx.x;
  for (int k = 0; k < {0}; ++k) {{
    int i = first + k * 256;
    if (i < n) z[i] = alpha * x[i] + (alpha == {1}.5f ? 0.f : y[i]);
  }}
}}
)cu",
                     1 + number % 8, 1000 + number, faulty ? "axpy_trap" : "axpy",
                     faulty ? "__trap(); " : "");
}

MakeKernel copies_of(const std::string& file) {
  constexpr std::uint64_t kMaxBytes = 1U << 20U;
  return [text = winnow::read_file(file, kMaxBytes)](int number, bool) {
    return fmt::format("{}\n__device__ int number_of_copy = {};\n", text, number);
  };
}

std::string first_gpus(int number) {
  std::string names = "cuda:0";
  for (int i = 1; i < number; ++i) {
    names += fmt::format(",cuda:{}", i);
  }
  return names;
}

using JudgeOn = std::function<MeasuredThroughput(const std::string& devices, int gpus)>;

void compare_numbers_of_gpus(const std::vector<int>& numbers, const JudgeOn& judge) {
  winnow::print_head_of_gpus();
  std::optional<MeasuredThroughput> first;
  for (const int gpus : numbers) {
    const MeasuredThroughput measured = judge(first_gpus(gpus), gpus);
    first = first.value_or(measured);
    print_row_of_gpus(gpus, measured, numbers.front(), *first);
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
  std::vector<std::string> task_and_file{"axpy", ""};
  std::vector<int> gpus;
  CLI::App app("Measures how many candidates one machine judges in full in a minute.");
  app.add_option("N", count, "number of kernels; with --gpus, for each GPU")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--device", options.device, "\"cpu\", \"cuda:0,cuda:1\"")->capture_default_str();
  app.add_option("--gpus", gpus, "compare these numbers of GPUs: 1,2,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 64));
  app.add_option("--faults", faults, "so many of the axpy kernels trap")
      ->check(CLI::Range(0, 100'000));
  app.add_option_function<std::string>(
         "--counters",
         [&](const std::string& text) {
           options.counters = evaluators::counting_from_string(text).value();
         },
         "read performance counters, too")
      ->check(CLI::IsMember({"fast", "full"}));
  app.add_option("--task", task_and_file, "copies of a kernel file instead of axpy kernels")
      ->type_name("TASK KERNEL_FILE")
      ->expected(2)
      ->allow_extra_args(false);
  app.add_option("--broker", broker.url, "judge on the workers of a broker's pool");
  app.add_option("--pool", broker.pool, "the pool")->needs("--broker");
  CLI11_PARSE(app, argc, argv);
  try {
    const tasks::Task task = tasks::find_task(tasks::find_catalogue(), task_and_file[0]);
    const MakeKernel make = task_and_file[1].empty() ? axpy_kernel : copies_of(task_and_file[1]);
    const auto judge = [&](int times) {
      const winnow::TemporaryDirectory cache("throughput-cache");
      options.cache = cache.path();
      const auto devices = winnow::harness::open_devices(options, options.run_timeout, broker);
      MeasuredThroughput measured =
          winnow::judge_all(task, options, *devices, make, times * count, times * faults);
      if (gpus.empty()) {
        print(measured, *devices);
      }
      return measured;
    };
    if (gpus.empty()) {
      judge(1);
    } else {
      compare_numbers_of_gpus(gpus, [&](const std::string& devices, int number) {
        options.device = devices;
        return judge(number);
      });
    }
    return 0;
  } catch (const winnow::Error& error) {
    std::fprintf(stderr, "%s; %s\n", error.what(), error.remedy().c_str());
    return 1;
  }
}
