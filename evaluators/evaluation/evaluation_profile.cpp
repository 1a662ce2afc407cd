// The part of EvaluationRun that profiles a correct kernel: counters, limiter, speed of light,
// energy. A profile changes neither the verdict nor a time.
#include "base/text.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/profile.h"
#include "evaluators/timing/physical_floor.h"
#include "profiling/counters/counter_report.h"
#include "tasks/known_limit.h"
#include "tasks/plan/resolve/occupancy.h"

#include <algorithm>
#include <variant>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::ShapeSet;
using tasks::Stage;

// Factor on the time limit of a run: a profile needs several passes, and a second for the energy.
constexpr int kLonger = 6;

double threads_of(const tasks::LaunchStep& step) {
  return static_cast<double>(step.grid[0] * step.grid[1] * step.grid[2]) *
         static_cast<double>(step.block[0] * step.block[1] * step.block[2]);
}

const tasks::LaunchStep* largest_launch(const tasks::ResolvedPlan& plan, LaunchFacts& facts) {
  const tasks::LaunchStep* largest = nullptr;
  for (const tasks::Step& step : plan.steps) {
    if (const auto* launch = std::get_if<tasks::LaunchStep>(&step)) {
      ++facts.launches;
      if (largest == nullptr || threads_of(*launch) > threads_of(*largest)) {
        largest = launch;
      }
    }
  }
  return largest;
}

void add_resources(const tasks::LaunchStep& launch, const tasks::BuildRecord& build,
                   const tasks::DeviceFacts& device, LaunchFacts& facts) {
  const auto found = std::find_if(
      build.kernels.begin(), build.kernels.end(),
      [&](const tasks::KernelResources& kernel) { return kernel.kernel == launch.kernel; });
  if (found == build.kernels.end()) {
    return;
  }
  facts.registers = found->registers;
  facts.shared_bytes = static_cast<double>(found->static_shared_bytes + launch.shared_bytes);
  const auto threads = static_cast<std::int64_t>(facts.threads_per_block);
  const std::int64_t blocks =
      tasks::resident_blocks_per_sm(device, *found, threads, launch.shared_bytes);
  if (blocks > 0 && device.max_threads_per_sm > 0) {
    facts.blocks_per_multiprocessor = static_cast<double>(blocks);
    facts.occupancy = std::min(1.0, static_cast<double>(blocks * threads) /
                                        static_cast<double>(device.max_threads_per_sm));
  }
}

std::string step_name(const tasks::Step& step) {
  if (const auto* launch = std::get_if<tasks::LaunchStep>(&step)) {
    return launch->kernel;
  }
  if (const auto* fill = std::get_if<tasks::FillStep>(&step)) {
    return "fill of " + fill->buffer;
  }
  const auto* copy = std::get_if<tasks::CopyStep>(&step);
  return copy != nullptr ? "copy to " + copy->to : "library";
}

/// `step_ns`: as in RunCaseReport.
std::vector<StepTime> step_times(const tasks::ResolvedPlan& plan,
                                 const std::vector<double>& step_ns) {
  std::vector<StepTime> times;
  for (std::size_t i = 0; i < plan.steps.size() && step_ns.size() == plan.steps.size(); ++i) {
    const std::string name = step_name(plan.steps[i]);
    auto found = std::find_if(times.begin(), times.end(),
                              [&](const StepTime& time) { return time.step == name; });
    if (found == times.end()) {
      found = times.insert(times.end(), {name, 0, 0});
    }
    ++found->count;
    found->ns += step_ns[i];
  }
  return times;
}

LaunchFacts launch_facts(const tasks::ResolvedPlan& plan, const tasks::BuildRecord& build,
                         const tasks::DeviceFacts& device) {
  LaunchFacts facts;
  if (const tasks::LaunchStep* launch = largest_launch(plan, facts)) {
    facts.kernel = launch->kernel;
    facts.threads_per_block =
        static_cast<double>(launch->block[0] * launch->block[1] * launch->block[2]);
    facts.blocks = threads_of(*launch) / facts.threads_per_block;
    add_resources(*launch, build, device, facts);
  }
  return facts;
}

double spill_bytes(const tasks::BuildRecord& build, const std::string& kernel) {
  double bytes = 0;
  for (const tasks::KernelResources& one : build.kernels) {
    bytes += one.kernel == kernel ? one.spill_store_bytes + one.spill_load_bytes : 0;
  }
  return bytes;
}

/// A key of profiling::Ceilings::rates.
std::string operation_kind(const tasks::Task& task) {
  switch (task.tolerance.precision) {
  case tasks::Precision::TF32:
    return "tf32_tensor";
  case tasks::Precision::F16:
    return "f16_tensor";
  case tasks::Precision::BF16:
    return "bf16_tensor";
  case tasks::Precision::F8E4M3:
  case tasks::Precision::F8E5M2:
    return "f8_tensor";
  case tasks::Precision::Int:
    return "i8_tensor";
  case tasks::Precision::F64:
    return "f64";
  case tasks::Precision::F32:
    return "f32";
  }
  return "f32";
}

profiling::Work work_of(const tasks::Task& task, const tasks::Shape& shape) {
  const TaskWork stated = stated_work(task, shape);
  return {stated.read_bytes + stated.written_bytes, stated.operations, operation_kind(task), true};
}

} // namespace

std::optional<profiling::CounterSet> EvaluationRun::counter_set() const {
  switch (on_device_.options.counters) {
  case Counting::Off:
    return std::nullopt;
  case Counting::Auto:
    return result_.device == "cpu" ? std::nullopt : std::optional(profiling::CounterSet::Full);
  case Counting::Fast:
    return profiling::CounterSet::Fast;
  case Counting::Full:
    return profiling::CounterSet::Full;
  }
  return std::nullopt;
}

void EvaluationRun::profile() {
  const std::optional<profiling::CounterSet> set = counter_set();
  if (!set || on_device_.cancelled) {
    return;
  }
  const std::vector<tasks::Shape> shapes =
      on_device_.task.shapes_of(ShapeSet::Search, result_.device);
  // A check build counts the accesses.
  const bool checks = on_device_.host->compiler->has_check_mode();
  std::vector<Diagnostic> errors;
  const BuiltKernel counted = checks ? on_device_.build(file_, on_device_.task, result_.parameters,
                                                        shapes, BuildMode::Check, errors)
                                     : built_;
  std::vector<PlannedCase> cases;
  if (counted.compiled.verdict != tasks::Verdict::Correct ||
      !plan_cases(shapes, 1, counted, cases)) {
    fail(tasks::Verdict::Correct, ""); // the kernel is correct; only the counting is impossible
    result_.notes.push_back("not profiled: it does not compile for counting");
    return;
  }
  std::vector<RunCase> run_list = run_cases_of(on_device_, cases);
  for (RunCase& run_case : run_list) {
    run_case.counters = set;
    run_case.energy = on_device_.options.energy;
  }
  const StageOutcome outcome = run_cases(counted, std::move(run_list), checks ? 1 : 0,
                                         kLonger * on_device_.options.run_timeout);
  if (outcome.fault) {
    result_.notes.push_back("not profiled in full: " + outcome.fault->detail);
  }
  nlohmann::json profile = nlohmann::json::array();
  for (const RunCaseReport& report : outcome.report.cases) {
    if (report.index < cases.size() && report.counters) {
      profile.push_back(profiled(cases[report.index], report));
    }
  }
  result_.profile = profile.empty() ? "" : profile.dump();
}

ProfiledShape EvaluationRun::profiled(const PlannedCase& planned, const RunCaseReport& report) {
  ProfiledShape result;
  result.shape_id = planned.shape.id;
  result.shape.shape = to_string(planned.shape);
  result.shape.counters = *report.counters;
  result.energy = report.energy.value_or(profiling::Energy{});
  const tasks::DeviceFacts& device = on_device_.host->device.facts;
  result.launch = launch_facts(*planned.plan, result_.build, device);
  result.steps = step_times(*planned.plan, report.step_ns);
  for (const tasks::CaseResult& timed : result_.cases) {
    if (timed.stage == Stage::Time && timed.shape_id == planned.shape.id && timed.median_ns > 0) {
      result.shape.time_ns = timed.median_ns;
      profiling::leave_out_idle_time(result.shape.counters, timed.median_ns,
                                     timed.conditions.median_clock_mhz);
    }
  }
  profiling::LimiterFacts facts;
  facts.counters = result.shape.counters;
  facts.theoretical_occupancy = result.launch.occupancy;
  facts.multiprocessors = static_cast<double>(device.sm_count);
  facts.blocks = result.launch.blocks;
  facts.blocks_per_multiprocessor = result.launch.blocks_per_multiprocessor;
  facts.has_roles_of_warps = contains(result_.build.features, "cp.async.bulk") ||
                             contains(result_.build.features, "wgmma") ||
                             contains(result_.build.features, "tcgen05.mma");
  facts.spill_bytes_per_thread = spill_bytes(result_.build, result.launch.kernel);
  if (result.shape.time_ns) {
    const profiling::Ceilings& ceilings = ceilings_of(*on_device_.host, on_device_.options);
    facts.time_ns = *result.shape.time_ns;
    facts.launch_overhead_ns = ceilings.launch_overhead_ns;
    add_speed_of_light(planned.shape, ceilings, result.shape);
    facts.speed_of_light = result.shape.speed_of_light;
    facts.work = work_of(on_device_.task, planned.shape);
  }
  result.shape.findings = profiling::limiter_of(facts);
  return result;
}

profiling::SpeedOfLightResult speed_of_light_of(const DeviceReport& device, const tasks::Task& task,
                                                const tasks::Shape& shape, double time_ns,
                                                const profiling::Ceilings& ceilings) {
  if (const std::string_view why = tasks::why_no_limit(device.kind); !why.empty()) {
    return {std::nullopt, std::string(why)};
  }
  return profiling::speed_of_light(work_of(task, shape),
                                   physical_floor(stated_work(task, shape), device.facts, ceilings),
                                   time_ns, ceilings);
}

std::optional<double> share_of_speed_of_light(const DeviceReport& device, const tasks::Task& task,
                                              const tasks::Evaluation& evaluation,
                                              const profiling::Ceilings& ceilings) {
  std::vector<double> shares;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device.kind)) {
    for (const tasks::CaseResult& timed : evaluation.cases) {
      if (timed.stage != Stage::Time || timed.shape_id != shape.id || timed.median_ns <= 0) {
        continue;
      }
      const auto speed = speed_of_light_of(device, task, shape, timed.median_ns, ceilings);
      if (!speed.value) {
        return std::nullopt;
      }
      shares.push_back(speed.value->fraction);
    }
  }
  return shares.empty() ? std::nullopt : std::optional(tasks::geometric_mean(shares));
}

void EvaluationRun::add_speed_of_light(const tasks::Shape& shape,
                                       const profiling::Ceilings& ceilings,
                                       profiling::ShapeProfile& profile) {
  const profiling::SpeedOfLightResult speed = speed_of_light_of(
      on_device_.host->device, on_device_.task, shape, *profile.time_ns, ceilings);
  profile.speed_of_light = speed.value;
  profile.no_speed_of_light = speed.reason;
}

} // namespace winnow::evaluators
