// Measures the cost of the judging protocol. For each task it judges the baseline in turns with the
// whole protocol and with a plain one: one seed, no check mode, no hidden shapes, only compare and
// time. Both use compiled kernels from the cache. The plain protocol still verifies timed launches,
// because that cannot be turned off.
//   protocol_bench [DEVICE=cpu] [REPEATS=5]
#include "evaluators/host/devices.h"
#include "evaluators/host/open_device.h"
#include "evaluators/workers.h"
#include "measure/judged_seconds.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/result/evaluation.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using winnow::evaluators::EvaluationOptions;
using winnow::evaluators::Evaluator;
using winnow::measure::judged_seconds;
namespace evaluators = winnow::evaluators;
namespace tasks = winnow::tasks;

EvaluationOptions whole_protocol() {
  EvaluationOptions options;
  options.reuse = false; // the same kernel must be judged again
  return options;
}

EvaluationOptions plain_protocol() {
  EvaluationOptions options = whole_protocol();
  options.check = options.promotion = false;
  options.tiny_seeds = 1;
  return options;
}

} // namespace

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  const std::string device = argc > 1 ? argv[1] : "cpu";
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  const auto host = evaluators::open_device(evaluators::select_device(device), whole_protocol(),
                                            whole_protocol().run_timeout);
  std::printf("%-12s %8s %8s %6s\n", "task", "plain s", "whole s", "ratio");
  double plain_sum = 0, whole_sum = 0;
  std::vector<double> ratios;
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(tasks::find_catalogue())) {
    const tasks::Task task = tasks::load_task(entry.folder);
    const auto parsed = tasks::parse_kernel_file(task.baseline, "baseline.cu");
    const tasks::KernelFile& kernel = parsed.kernel_file.value();
    const auto choice = tasks::parameter_choices(kernel.plan, 1).at(0);
    Evaluator plain(task, host, plain_protocol());
    Evaluator whole(task, host, whole_protocol());
    std::vector<double> plain_seconds, whole_seconds;
    for (int i = 0; i <= repeats; ++i) {
      const double one = judged_seconds(plain, kernel, choice);
      const double other = judged_seconds(whole, kernel, choice);
      if (i > 0) { // the first judgements compile
        plain_seconds.push_back(one);
        whole_seconds.push_back(other);
      }
    }
    const double a = tasks::median(plain_seconds);
    const double b = tasks::median(whole_seconds);
    plain_sum += a;
    whole_sum += b;
    ratios.push_back(b / a);
    std::printf("%-12s %8.2f %8.2f %6.2f\n", entry.name.c_str(), a, b, b / a);
    std::fflush(stdout);
  }
  std::printf("%-12s %8.2f %8.2f %6.2f (median of ratios %.2f)\n", "all", plain_sum, whole_sum,
              whole_sum / plain_sum, tasks::median(ratios));
  return 0;
}
