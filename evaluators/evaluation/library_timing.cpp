#include "evaluators/evaluation/library_timing.h"

#include "evaluators/device/vendors/gpu_vendors.h"
#include "evaluators/evaluation/reference_check.h"
#include "tasks/library/library_baseline.h"

namespace winnow::evaluators {
namespace {

using tasks::LibraryTiming;

constexpr int kStarts = 3; // attempts; loading a large library takes seconds

StageOutcome run_library(TaskOnDevice& on_device, RunCase run_case) {
  RunRequest request;
  request.module = on_device.baseline.compiled.module;
  request.cases.push_back(std::move(run_case));
  RunnerLimits limits;
  limits.wall = kStarts * on_device.options.run_timeout;
  limits.memory_bytes = on_device.options.memory_bytes + on_device.host->arena.size_bytes();
  return on_device.host->runner->run(std::move(request), limits,
                                     [&on_device] { return on_device.cancelled.load(); });
}

LibraryTiming measure(TaskOnDevice& on_device, const tasks::LibraryBaselinePlan& library,
                      const tasks::Shape& shape, std::uint64_t seed,
                      const SamplingRequest& sampling) {
  LibraryTiming timing;
  timing.name = library.name;
  RunCase run_case;
  run_case.plan = library.plan;
  run_case.seed = seed;
  run_case.sampling = sampling;
  std::uint64_t needed = 0;
  run_case.outputs = output_slices(on_device.task, shape, needed, OutputPart::DrawnPieces);
  const std::vector<ArenaSlice> outputs = run_case.outputs;
  const StageOutcome outcome = run_library(on_device, std::move(run_case));
  if (outcome.fault || outcome.cancelled || outcome.report.cases.empty()) {
    timing.error = outcome.fault ? outcome.fault->detail : "cancelled";
    return timing;
  }
  const RunCaseReport& report = outcome.report.cases.front();
  if (report.timed_outputs.empty()) {
    timing.error = "no launch was judged";
    return timing;
  }
  const TimedOutput& judged = report.timed_outputs.front();
  const JudgeReply reply =
      on_device.ask(judge_request(on_device, shape, {launch_seed(seed, 0, judged.launch), seed},
                                  judged.salt, outputs, judged.draw));
  timing.agrees = reply.verdict == tasks::Verdict::Correct;
  timing.max_error_ratio = reply.ratios.larger();
  timing.error = reply.mismatch ? mismatch_text(*reply.mismatch) : reply.detail;
  timing.samples_ns = report.samples_ns;
  timing.median_ns = tasks::median(timing.samples_ns);
  return timing;
}

} // namespace

std::vector<LibraryTiming> library_timings(TaskOnDevice& on_device, const tasks::Shape& shape,
                                           std::uint64_t seed, const SamplingRequest& sampling) {
  const GpuVendor* vendor = find_gpu_vendor(on_device.host->device.kind);
  if (vendor == nullptr || vendor->open_library == nullptr || !on_device.has_baseline()) {
    return {};
  }
  if (const auto known = on_device.libraries.find(shape.id); known != on_device.libraries.end()) {
    return known->second;
  }
  std::vector<LibraryTiming> timings;
  for (const tasks::LibraryBaselinePlan& library : tasks::library_plans(on_device.task, shape)) {
    timings.push_back(measure(on_device, library, shape, seed, sampling));
  }
  if (!on_device.cancelled) {
    std::vector<LibraryTiming>& kept = on_device.libraries[shape.id];
    kept = timings;
    for (LibraryTiming& timing : kept) {
      timing.is_fresh = false;
    }
  }
  return timings;
}

} // namespace winnow::evaluators
