#include "harness/suite/compiled_suite.h"

#include "base/error.h"
#include "evaluators/evaluation/eager_times.h"
#include "evaluators/evaluation/open_devices.h"
#include "evaluators/host/devices.h"
#include "profiling/statistics/order.h"
#include "store/run_store.h"

#include <iostream>

namespace winnow::harness {
namespace {

constexpr const char* kName = "torch.compile";

std::vector<store::BaselineTiming> timings_of(evaluators::DeviceHost& host, const tasks::Task& task,
                                              const evaluators::Protocol& protocol) {
  std::vector<store::BaselineTiming> timings;
  for (evaluators::CompiledTimes& times : evaluators::compiled_times(host, task, protocol)) {
    store::BaselineTiming& timing = timings.emplace_back();
    timing.name = kName;
    timing.version = host.torch.version();
    timing.device = host.device.kind;
    timing.device_name = host.device.name;
    timing.shape_id = times.shape.id;
    timing.shape = to_string(times.shape);
    timing.times_ns = times.times_ns;
    timing.error = times.error;
    if (!times.times_ns.empty()) {
      timing.median_ns = profiling::median_of(times.times_ns);
    }
    std::cerr << task.name << ": " << timing.shape_id << ": torch.compile "
              << (timing.error.empty() ? "was timed" : "has no time: " + timing.error) << '\n';
  }
  return timings;
}

} // namespace

void store_compiled_times(const std::vector<tasks::SuiteTask>& suite, const RunConfig& config) {
  const auto host = evaluators::open_device(evaluators::select_device(config.evaluation.device),
                                            config.evaluation, config.evaluation.run_timeout);
  host->torch.start();
  if (!host->torch.no_compile().empty()) {
    throw Error(host->torch.no_compile(), "leave out --compiled, or use PyTorch 2");
  }
  store::RunStore store(config.store, store::RunStore::Mode::ReadWrite);
  for (const tasks::SuiteTask& one : suite) {
    if (one.task.torch) {
      store.add_baseline_timings(store.add_task(one.task),
                                 timings_of(*host, one.task, config.evaluation));
    }
  }
}

} // namespace winnow::harness
