// Measures the time to judge a correct kernel on tiny shapes: spawn, sandbox, run and judge. For
// each task it evaluates the baseline with the tiny shapes as search shapes, without timing and
// from the compile cache. That takes two isolated `_run` children and the judging of their cases;
// the kernels themselves take microseconds.
//   evaluation_bench [REPEATS=20]
#include "base/files.h"
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

using winnow::evaluators::Evaluator;
using winnow::measure::judged_seconds;
namespace evaluators = winnow::evaluators;
namespace tasks = winnow::tasks;

// The task with its tiny shapes as search shapes.
tasks::Task tiny_only(tasks::Task task) {
  std::vector<tasks::Shape> shapes;
  for (const tasks::Shape& shape : task.shapes) {
    if (shape.set == tasks::ShapeSet::Tiny) {
      shapes.push_back(shape);
      shapes.push_back(shape);
      shapes.back().set = tasks::ShapeSet::Search;
    }
  }
  task.shapes = shapes;
  return task;
}

} // namespace

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 20;
  winnow::evaluators::EvaluationOptions options;
  options.timing = options.promotion = options.check = false;
  options.tiny_seeds = 1;
  std::printf("%-12s %6s %22s %16s\n", "task", "cases", "evaluation, median ms", "per run ms");
  const auto catalogue = tasks::find_catalogue();
  std::vector<double> all;
  const auto host =
      evaluators::open_device(evaluators::select_device("cpu"), options, options.run_timeout);
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(catalogue)) {
    const tasks::Task task = tiny_only(tasks::load_task(entry.folder));
    const auto parsed = tasks::parse_kernel_file(task.baseline, "baseline.cu");
    const tasks::KernelFile& kernel = parsed.kernel_file.value();
    const auto choice = tasks::parameter_choices(kernel.plan, 1).at(0);
    Evaluator evaluator(task, host, options);
    judged_seconds(evaluator, kernel, choice); // fills the cache and starts the judge
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) {
      samples.push_back(1e3 * judged_seconds(evaluator, kernel, choice));
    }
    const double median = tasks::median(samples);
    all.push_back(median / 2);
    std::printf("%-12s %6zu %22.1f %16.1f\n", entry.name.c_str(), task.shapes.size(), median,
                median / 2);
  }
  std::printf("median over the tasks: %.1f ms for spawn + sandbox + run + judge\n",
              tasks::median(all));
  return 0;
}
