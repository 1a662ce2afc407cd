// Prints, for each task and each search shape of a device, the physical floor, the best known time
// and their ratio, separated by tabs. The times are those of the baseline, the task's honest
// kernels, the vendor's library and, with --kernels, each file in that folder whose name begins
// with the task's name.
//   floor_table [--device cuda] [--kernels tests/gpu/kernels] [--facts] [TASK...]
// --facts prints without running anything. A file whose verdict is not `correct` is reported on
// stderr.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/evaluator.h"
#include "evaluators/selftest/selftest.h"
#include "evaluators/timing/physical_floor.h"
#include "evaluators/workers.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

namespace evaluators = winnow::evaluators;
namespace fs = std::filesystem;
namespace tasks = winnow::tasks;

struct Best {
  double ns = 0;
  std::string by;
};
using BestTimes = std::map<std::string, Best>; // by shape

struct Settings {
  std::string device = "best";
  fs::path kernels;
  bool facts = false;
  std::vector<std::string> names;
};

void add(Best& best, double ns, const std::string& by) {
  if (ns > 0 && (best.ns == 0 || ns < best.ns)) {
    best = {ns, by};
  }
}

std::vector<fs::path> files_of(const tasks::Task& task, const fs::path& kernels) {
  std::vector<fs::path> files = evaluators::honest_files(task);
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(kernels, none)) {
    if (entry.path().stem().string().starts_with(task.name + "_")) {
      files.push_back(entry.path());
    }
  }
  return files;
}

BestTimes best_times(tasks::Task task, const fs::path& kernels,
                     const std::shared_ptr<evaluators::DeviceHost>& host,
                     const evaluators::EvaluationOptions& options) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  BestTimes best;
  tasks::take_baseline_of(task, host->device.kind);
  evaluators::Evaluator evaluator(task, host, options);
  for (const fs::path& file : files_of(task, kernels)) {
    const std::string name = file.filename().string();
    const tasks::Evaluation result =
        evaluator.evaluate_text(winnow::read_file(file, kMostBytes), name);
    if (result.verdict != tasks::Verdict::Correct) {
      std::fprintf(stderr, "%s %s: %s: %s\n", task.name.c_str(), name.c_str(),
                   std::string(to_string(result.verdict)).c_str(), result.detail.c_str());
      continue;
    }
    for (const tasks::CaseResult& timed : result.cases) {
      if (timed.stage == tasks::Stage::Time) {
        add(best[timed.shape_id], timed.median_ns, name);
        add(best[timed.shape_id], timed.baseline_median_ns, tasks::baseline_file(task));
        for (const tasks::LibraryTiming& library : timed.libraries) {
          add(best[timed.shape_id], library.median_ns, library.name);
        }
      }
    }
  }
  return best;
}

void print(const tasks::Task& task, const evaluators::DeviceHost& host, BestTimes best) {
  const auto ceilings = evaluators::cached_ceilings(host);
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, host.device.kind)) {
    const evaluators::TaskWork work = evaluators::least_work(task, shape);
    const evaluators::PhysicalFloor floor =
        evaluators::physical_floor(work, host.device.facts, ceilings);
    const Best& known = best[shape.id];
    fmt::print("{}\t{}\t{:.1f}\t{:.1f}\t{:.3g}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.2f}\t{}\t{:.2f}\n",
               task.name, to_string(shape), work.read_bytes * 1e-6, work.written_bytes * 1e-6,
               work.operations, floor.memory_ns * 1e-3, floor.arithmetic_ns * 1e-3,
               floor.ns() * 1e-3, known.ns * 1e-3, known.by.empty() ? "-" : known.by,
               known.ns > 0 ? floor.ns() / known.ns : 0);
  }
  std::fflush(stdout);
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--facts") {
      settings.facts = true;
    } else if (word == "--device" && i + 1 < argc) {
      settings.device = argv[++i];
    } else if (word == "--kernels" && i + 1 < argc) {
      settings.kernels = argv[++i];
    } else {
      settings.names.push_back(word);
    }
  }
  return settings;
}

void print_table(const Settings& settings) {
  evaluators::EvaluationOptions options;
  options.promotion = options.check = false;
  options.counters = evaluators::Counting::Off;
  const auto host = evaluators::open_device(evaluators::select_device(settings.device), options,
                                            options.run_timeout);
  const tasks::DeviceFacts& facts = host->device.facts;
  fmt::print("# {} {}: {} multiprocessors, {} MHz, {} bytes of L2, {:.4g} bytes/s, ceilings {}\n",
             host->device.name, facts.architecture, facts.sm_count, facts.clock_mhz, facts.l2_bytes,
             facts.peak_bytes_per_second,
             evaluators::cached_ceilings(*host) ? "measured" : "not measured");
  fmt::print("task\tshape\tread MB\twritten MB\toperations\tmemory us\tarithmetic us\tfloor us\t"
             "best us\tby\tfloor / best\n");
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(tasks::find_catalogue())) {
    const bool chosen =
        std::find(settings.names.begin(), settings.names.end(), entry.name) != settings.names.end();
    if (chosen || settings.names.empty()) {
      const tasks::Task task = tasks::load_task(entry.folder);
      print(task, *host,
            settings.facts ? BestTimes{} : best_times(task, settings.kernels, host, options));
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (winnow::evaluators::is_worker(argc, argv)) {
    return winnow::evaluators::run_worker(argc, argv);
  }
  try {
    print_table(settings_of(argc, argv));
    return 0;
  } catch (const winnow::Error& error) {
    std::fprintf(stderr, "%s; %s\n", error.what(), error.remedy().c_str());
    return 1;
  }
}
