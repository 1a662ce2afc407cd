#include "harness/run/prompts/prompt_facts.h"

#include "base/text.h"
#include "evaluators/evaluation/profile.h"
#include "evaluators/timing/physical_floor.h"
#include "profiling/counters/counter_names.h"
#include "search/outcome.h"
#include "search/response_surface.h"
#include "tasks/known_limit.h"
#include "tasks/plan/architecture.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using evaluators::ProfiledShape;
using evaluators::TaskWork;
using tasks::Precision;

constexpr double kNsPerSecond = 1e9;

/// Tensor operations per second, by the same table that refuses implausible times.
double tensor_peak(const tasks::DeviceFacts& facts, Precision precision) {
  TaskWork work;
  work.operations = 1e12;
  work.precision = precision;
  return work.operations / evaluators::physical_floor(work, facts, std::nullopt).arithmetic_ns *
         kNsPerSecond;
}

/// The rates of an NVIDIA GPU at its highest rated clock.
void add_peaks(agents::ProposalContext& context) {
  const tasks::DeviceFacts& facts = context.facts;
  const int capability = tasks::compute_capability(facts.architecture);
  if (capability < 75 || facts.clock_mhz <= 0) {
    return;
  }
  constexpr double kOperationsOfAnFma = 2;
  const double lanes = capability <= 80 ? 64 : 128; // f32 units of a multiprocessor
  const double of_16_bits = tensor_peak(facts, Precision::F16);
  context.ceilings.push_back(
      {"peak of f32 operations outside of the tensor cores",
       kOperationsOfAnFma * lanes * static_cast<double>(facts.sm_count) * facts.clock_mhz * 1e6,
       "op/s"});
  if (capability >= 80) {
    context.ceilings.push_back({"peak of TF32 tensor operations", of_16_bits / 2, "op/s"});
  }
  context.ceilings.push_back({"peak of 16-bit tensor operations", of_16_bits, "op/s"});
  context.ceilings.push_back(
      {"peak of 8-bit tensor operations", tensor_peak(facts, Precision::Int), "op/s"});
}

/// Measured values that a profile holds.
void add_measured(const profiling::SpeedOfLight& speed, agents::ProposalContext& context) {
  const double launch_ns = speed.launch_ns.value_or(0);
  if (speed.copy_ns && *speed.copy_ns > launch_ns) {
    context.ceilings.push_back({fmt::format("a plain copy ({}), measured", speed.copy_level),
                                speed.bytes / (*speed.copy_ns - launch_ns) * kNsPerSecond, "B/s"});
  }
  if (speed.rate_ns && *speed.rate_ns > launch_ns) {
    context.ceilings.push_back({fmt::format("{} operations, measured", speed.rate_kind),
                                speed.operations / (*speed.rate_ns - launch_ns) * kNsPerSecond,
                                "op/s"});
  }
  if (speed.launch_ns) {
    context.ceilings.push_back({"an empty launch, measured", launch_ns, "ns"});
  }
}

/// Exponentials and the like, where they take a good part of the least time.
void add_special(const tasks::Shape& shape, const agents::ProposalContext& context,
                 agents::ShapeBound& bound) {
  constexpr double kCallsOfACycle = 16; // of a multiprocessor, from compute capability 7.5 on
  constexpr double kMatters = 0.3;
  const tasks::DeviceFacts& facts = context.facts;
  if (!context.task->special_functions || facts.clock_mhz <= 0 ||
      tasks::compute_capability(facts.architecture) < 75) {
    return;
  }
  tasks::Scope scope;
  tasks::bind_shape(*context.task, shape, scope);
  const double calls = context.task->special_functions->evaluate_float(scope);
  const double ns =
      calls / (kCallsOfACycle * static_cast<double>(facts.sm_count)) / facts.clock_mhz * 1e3;
  if (ns > kMatters * bound.least_ns) {
    bound.special_calls = calls;
    bound.special_ns = ns;
  }
}

/// The limit that is not the bound, if it comes near.
std::string other_limit(const evaluators::PhysicalFloor& floor) {
  constexpr double kNear = 0.5;
  const bool is_memory = floor.memory_ns >= floor.arithmetic_ns;
  const double other = is_memory ? floor.arithmetic_ns : floor.memory_ns;
  return other < kNear * floor.ns()
             ? ""
             : fmt::format("{} by {}", profiling::counter_text(other, "ns"),
                           is_memory ? floor.arithmetic_peak : floor.memory_peak);
}

agents::ShapeBound bound_of(const tasks::Shape& shape, const agents::ProposalContext& context,
                            const std::vector<ProfiledShape>& profile) {
  const evaluators::PhysicalFloor floor = evaluators::physical_floor(
      evaluators::stated_work(*context.task, shape), context.facts, std::nullopt);
  agents::ShapeBound bound;
  bound.shape = to_string(shape);
  bound.least_ns = floor.ns();
  bound.limiter =
      floor.memory_ns >= floor.arithmetic_ns ? floor.memory_peak : floor.arithmetic_peak;
  bound.other = other_limit(floor);
  const auto found = std::find_if(profile.begin(), profile.end(),
                                  [&](const auto& one) { return one.shape_id == shape.id; });
  if (found != profile.end() && found->shape.speed_of_light) {
    const profiling::SpeedOfLight& speed = *found->shape.speed_of_light;
    bound.least_ns = speed.least_ns;
    bound.limiter = speed.bound;
    bound.measured = profiling::measured_text(speed);
  }
  return bound;
}

/// The steps that take most of a run's time.
std::string step_line(const ProfiledShape& profiled) {
  constexpr std::size_t kMostSteps = 6;
  std::vector<evaluators::StepTime> steps = profiled.steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& one, const auto& other) { return one.ns > other.ns; });
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kMostSteps, steps.size()); ++i) {
    shown.push_back(to_text(steps[i]));
  }
  return shown.empty()
             ? ""
             : fmt::format("  steps, each by itself with warm caches: {}{}\n", join(shown, ", "),
                           steps.size() > kMostSteps ? ", and others" : "");
}

/// Of the kernel with the most spills; empty: the compiler did not tell.
std::string spill_text(const tasks::BuildRecord& build) {
  double most = 0;
  for (const tasks::KernelResources& kernel : build.kernels) {
    most = std::max(most, static_cast<double>(kernel.spill_store_bytes + kernel.spill_load_bytes));
  }
  return build.kernels.empty() ? ""
         : most > 0 ? fmt::format("Compiler: up to {:.0f} bytes of spills a thread.\n", most)
                    : "Compiler: no spills.\n";
}

std::string launch_line(const ProfiledShape& profiled) {
  const evaluators::LaunchFacts& launch = profiled.launch;
  std::string line = fmt::format(
      "{}: launches of a run: {}; the largest is {}, with {:.0f} blocks of {:.0f} threads",
      profiled.shape.shape, launch.launches, launch.kernel, launch.blocks,
      launch.threads_per_block);
  if (launch.registers) {
    line += fmt::format(", {} registers a thread at its launch", *launch.registers);
  }
  if (launch.shared_bytes) {
    line += fmt::format(", {:.1f} KiB shared memory a block", *launch.shared_bytes / 1024);
  }
  if (launch.blocks_per_multiprocessor) {
    line += fmt::format("; resident blocks an SM: {:.0f}", *launch.blocks_per_multiprocessor);
  }
  return line + "\n" + step_line(profiled);
}

} // namespace

std::string launch_lines(const tasks::Evaluation& evaluation) {
  constexpr std::size_t kMostShapes = 8;
  std::string lines;
  std::size_t shown = 0;
  for (const ProfiledShape& profiled : evaluators::profile_of(evaluation)) {
    if (!profiled.launch.kernel.empty() && shown < kMostShapes) {
      lines += launch_line(profiled);
      ++shown;
    }
  }
  return lines + spill_text(evaluation.build);
}

std::string surface_text(const std::vector<tasks::Evaluation>& trials, const std::string& text) {
  std::map<tasks::ParameterChoice, search::Trial> newest;
  std::vector<std::string> shapes;
  for (const tasks::Evaluation& trial : trials) {
    newest[trial.parameters] = search::trial_of(trial);
    if (shapes.empty()) {
      for (const tasks::CaseResult& timed : trial.cases) {
        shapes.push_back(timed.shape);
      }
    }
  }
  if (shapes.empty()) {
    return {};
  }
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "candidate.cu");
  if (!parsed.kernel_file) {
    return {};
  }
  search::Trial of_default{tasks::parameter_choices(parsed.kernel_file->plan, 1).front()};
  of_default.speeds.assign(shapes.size(), 1);
  std::vector<search::Trial> all{of_default};
  for (auto& [choice, trial] : newest) {
    all.push_back(std::move(trial));
  }
  return join(search::surface_lines(search::response_surface(all, std::move(shapes))), "\n");
}

void add_prompt_facts(agents::ProposalContext& context) {
  if (!tasks::why_no_limit(context.device).empty()) {
    return;
  }
  const std::vector<ProfiledShape> profile =
      context.baseline ? evaluators::profile_of(context.baseline->evaluation)
                       : std::vector<ProfiledShape>{};
  for (const tasks::Shape& shape :
       context.task->shapes_of(tasks::ShapeSet::Search, context.device)) {
    context.bounds.push_back(bound_of(shape, context, profile));
    add_special(shape, context, context.bounds.back());
  }
  add_peaks(context);
  const auto measured = std::find_if(profile.begin(), profile.end(), [](const auto& one) {
    return one.shape.speed_of_light.has_value();
  });
  if (measured != profile.end()) {
    add_measured(*measured->shape.speed_of_light, context);
  }
}

} // namespace winnow::harness
