#include "evaluators/ceilings/measure_ceilings.h"

#include "base/error.h"
#include "base/random_bits.h"
#include "base/text.h"
#include "evaluators/ceilings/ceiling_work.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using profiling::Ceilings;

constexpr int kWorkerStarts = 3; // attempts; a GPU worker may have to be started first

/// Compiles the kernel files of a plan when they are first needed, and times their launches.
class Bench {
public:
  Bench(DeviceHost& host, const MachineOptions& machine, const CeilingPlan& plan)
      : host_(host), machine_(machine) {
    asked_[plan.nothing.file].push_back(plan.nothing);
    for (const CopyWork& copy : plan.copies) {
      asked_[copy.launch.file].push_back(copy.launch);
    }
    for (const RateWork& rate : plan.rates) {
      asked_[rate.launch.file].push_back(rate.launch);
    }
  }
  /// Throws Error when the file does not compile or the launch fails.
  RunCaseReport time(const CeilingLaunch& launch, bool warm) {
    if (!built_.contains(launch.file)) {
      compile(launch.file);
    }
    const Built& built = built_.at(launch.file);
    if (!built.why_not.empty()) {
      throw Error(built.why_not);
    }
    RunCase run_case;
    run_case.plan = resolve(built, launch);
    run_case.seed = run_case.salt = random_bits();
    run_case.sampling.emplace();
    run_case.sampling->warm = warm;
    run_case.sampling->budget = std::chrono::milliseconds(host_.device.kind == "cpu" ? 100 : 30);
    RunRequest request;
    request.module = built.kernel.compiled.module;
    request.cases.push_back(std::move(run_case));
    RunnerLimits limits;
    limits.wall = kWorkerStarts * host_.worker_device.deadline;
    limits.memory_bytes = machine_.memory_bytes + host_.arena.size_bytes();
    StageOutcome outcome = host_.runner->run(std::move(request), limits, [] { return false; });
    if (outcome.fault) {
      throw Error(outcome.fault->detail);
    }
    if (outcome.report.cases.empty()) {
      throw Error("the run ended without a report");
    }
    return std::move(outcome.report.cases.front());
  }

private:
  struct Built {
    tasks::KernelFile file;
    tasks::Task task; ///< its shapes are all launches of this file in the plan
    BuiltKernel kernel;
    std::string why_not; ///< the compile error, if there was one
  };

  void compile(const std::string& file) {
    Built& built = built_[file];
    tasks::KernelFileResult parsed = tasks::parse_kernel_file(ceiling_kernel(file), file);
    if (!parsed.kernel_file) {
      built.why_not = to_string(parsed.errors.front());
      return;
    }
    built.file = std::move(*parsed.kernel_file);
    built.task = ceiling_task(asked_.at(file));
    std::vector<Diagnostic> errors;
    try {
      built.kernel = build_kernel(*host_.compiler, host_.device.facts, built.file, built.task, {},
                                  built.task.shapes, BuildMode::Plain, {}, errors);
    } catch (const Error& error) {
      built.why_not = error.what();
      return;
    }
    if (!errors.empty()) {
      built.why_not = to_string(errors.front());
    } else if (built.kernel.compiled.verdict != tasks::Verdict::Correct) {
      built.why_not = fmt::format("{} does not compile: {}", file, built.kernel.compiled.detail);
    }
  }
  tasks::ResolvedPlan resolve(const Built& built, const CeilingLaunch& launch) const {
    const tasks::Shape shape = ceiling_task({launch}).shapes.front();
    std::vector<Diagnostic> errors, warnings;
    auto plan = tasks::resolve_plan(built.file, built.task, shape, {}, host_.device.facts,
                                    built.kernel.compiled.facts, errors, warnings);
    if (!plan) {
      throw Error(to_string(errors.front()));
    }
    return std::move(*plan);
  }

  DeviceHost& host_;
  const MachineOptions& machine_;
  std::map<std::string, std::vector<CeilingLaunch>> asked_; ///< by file
  std::map<std::string, Built> built_;
};

/// Throws Error when there are no samples or the median is not positive.
double median_ns(const std::vector<double>& samples) {
  const double median = tasks::median(samples);
  if (!(median > 0)) {
    throw Error(samples.empty() ? "the run ended without a sample"
                                : "the launches were too short for the clock of this device");
  }
  return median;
}

constexpr double kNsOfSecond = 1e9;

void measure_bandwidth(Bench& bench, const CeilingPlan& plan, Ceilings& ceilings) {
  for (const CopyWork& copy : plan.copies) {
    try {
      const RunCaseReport report = bench.time(copy.launch, copy.warm);
      const double ns = median_ns(copy.warm ? report.warm_samples_ns : report.samples_ns);
      ceilings.bandwidth.push_back({copy.bytes, copy.moved / ns * kNsOfSecond, copy.level});
    } catch (const Error& error) {
      ceilings.no_rate["bandwidth"] =
          fmt::format("the copy of {} bytes failed: {}", copy.bytes, error.what());
    }
  }
}

void measure_rates(Bench& bench, const CeilingPlan& plan, Ceilings& ceilings) {
  ceilings.no_rate = plan.no_rate;
  for (const RateWork& rate : plan.rates) {
    try {
      const double ns = median_ns(bench.time(rate.launch, false).samples_ns);
      ceilings.rates[rate.kind] = rate.operations / ns * kNsOfSecond;
    } catch (const Error& error) {
      ceilings.no_rate[rate.kind] = error.what();
    }
  }
}

void measure_launch(Bench& bench, const CeilingPlan& plan, Ceilings& ceilings) {
  try {
    const std::vector<double> samples = bench.time(plan.nothing, false).samples_ns;
    median_ns(samples);
    const double shortest = *std::min_element(samples.begin(), samples.end());
    if (shortest > 0) {
      ceilings.launch_overhead_ns = shortest;
    }
  } catch (const Error& error) {
    ceilings.no_rate["launch"] = error.what();
  }
}

std::filesystem::path ceilings_path(const DeviceHost& host) {
  return host.cache / profiling::ceilings_file_name(ceilings_owner(host.device));
}

} // namespace

profiling::CeilingsOwner ceilings_owner(const DeviceReport& device) {
  return {device.name, device.uuid, device.driver};
}

Ceilings measure_ceilings(DeviceHost& host, const MachineOptions& machine) {
  Ceilings ceilings;
  ceilings.owner = ceilings_owner(host.device);
  ceilings.date = utc_now();
  const CpuCaches caches =
      host.device.kind == "cpu" ? cpu_caches(host.device.facts.sm_count) : CpuCaches{};
  const CeilingPlan plan = ceiling_plan(host.device.kind, host.device.facts, caches);
  Bench bench(host, machine, plan);
  measure_rates(bench, plan, ceilings);
  measure_bandwidth(bench, plan, ceilings);
  measure_launch(bench, plan, ceilings);
  return ceilings;
}

const std::optional<Ceilings>& cached_ceilings(DeviceHost& host) {
  if (!host.ceilings) {
    host.ceilings = profiling::load_ceilings(ceilings_path(host), ceilings_owner(host.device));
  }
  return host.ceilings;
}

const Ceilings& ceilings_of(DeviceHost& host, const MachineOptions& machine) {
  static std::mutex mutex;
  if (cached_ceilings(host)) {
    return *host.ceilings;
  }
  const std::lock_guard lock(mutex);
  if (cached_ceilings(host)) { // another host of the same device has measured
    return *host.ceilings;
  }
  host.ceilings = measure_ceilings(host, machine);
  if (!host.ceilings->bandwidth.empty() && host.ceilings->rate("f32")) {
    try {
      profiling::save_ceilings(ceilings_path(host), *host.ceilings);
    } catch (const Error&) { // the next host measures again
    }
  }
  return *host.ceilings;
}

} // namespace winnow::evaluators
