// The timing stage of EvaluationRun: the candidate beside the task's baseline.
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation_run.h"
#include "evaluators/library_timing.h"
#include "evaluators/timing/physical_floor.h"
#include "evaluators/timing/timed_case.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr int kQuickDivisor = 4;
constexpr int kSlots = 3;
constexpr int kFewSlots = 2; // where drawing and judging inputs is dear
constexpr std::uint64_t kPoolBytes = std::uint64_t{1} << 30; // of kSlots sets of tensors
// A GPU moves so much in a few microseconds, 1 % of which is where the tensors happen to lie.
constexpr std::uint64_t kFewBytes = std::uint64_t{16} << 20;
constexpr int kPlaces = 3;

std::uint64_t tensor_bytes(const tasks::Task& task, const tasks::Shape& shape) {
  std::uint64_t bytes = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    bytes += static_cast<std::uint64_t>(tasks::element_count(tensor, shape)) *
             tasks::size_bytes(tensor.dtype);
  }
  return bytes;
}

/// So many sets of buffers for each input.
int timed_places(const Session& session, const tasks::Shape& shape) {
  const bool varied =
      session.host->worker_device.is_gpu() && tensor_bytes(session.task, shape) <= kFewBytes;
  return varied ? kPlaces : 1;
}

/// What sampling may take beside one run: who may yet win gets several budgets.
std::chrono::milliseconds longest_timing(const std::vector<RunCase>& cases) {
  constexpr int kBudgets = 4;
  std::chrono::milliseconds sum{0};
  for (const RunCase& run_case : cases) {
    sum += kBudgets * run_case.sampling->budget *
           static_cast<int>(1 + run_case.sampling->rivals.size());
  }
  return sum;
}

/// Those of area number `area`; see SamplingRequest.
std::vector<ArenaSlice> outputs_in_area(const RunCase& run_case, int area) {
  std::vector<ArenaSlice> outputs = run_case.outputs;
  for (ArenaSlice& slice : outputs) {
    slice.offset += static_cast<std::uint64_t>(area) * run_case.sampling->area_bytes;
  }
  return outputs;
}

} // namespace

int timed_slots(const Session& session) {
  const std::string& device = session.host->device.kind;
  std::uint64_t most = 0;
  for (const tasks::Shape& shape : session.task.shapes_of(ShapeSet::Search, device)) {
    most = std::max(most, tensor_bytes(session.task, shape));
  }
  return device == "cpu" || kSlots * most > kPoolBytes ? kFewSlots : kSlots;
}

bool EvaluationRun::time() {
  if (!session_.options.timing) {
    return true;
  }
  result_.stage = Stage::Time;
  const std::vector<tasks::Shape> shapes =
      session_.task.shapes_of(ShapeSet::Search, result_.device);
  session_.own_kernel(session_.baseline_file, session_.task, shapes, session_.baseline);
  std::vector<const BuiltKernel*> rivals{&session_.baseline};
  if (const BuiltKernel* incumbent =
          depth_ == Depth::Full ? session_.incumbent_for(shapes) : nullptr) {
    rivals.push_back(incumbent);
  }
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, timed_slots(session_), built_, cases)) {
    return false;
  }
  const std::size_t first_case = result_.cases.size();
  if (!take_turns(Stage::Time, cases, built_, rivals)) {
    return false;
  }
  if (depth_ == Depth::Full) {
    add_libraries(cases, first_case);
  }
  score();
  return result_.verdict != Verdict::Implausible;
}

SamplingRequest EvaluationRun::sampling_request() const {
  SamplingRequest sampling;
  const std::chrono::milliseconds asked = session_.options.time_budget;
  sampling.budget = asked.count() > 0 ? asked : default_time_budget(result_.device);
  sampling.stop_when_lost = session_.options.stop_when_lost;
  sampling.warm = session_.options.warm;
  sampling.max_samples = session_.options.max_samples;
  if (depth_ == Depth::Quick || result_.stage == Stage::Promotion) { // a gate of 10 % needs less
    sampling.budget /= kQuickDivisor;
    sampling.min_samples = 4;
    sampling.warm = false;
  }
  return sampling;
}

std::vector<RunCase> EvaluationRun::timed_run_cases(const std::vector<PlannedCase>& cases,
                                                    const std::vector<const BuiltKernel*>& rivals) {
  std::vector<PlannedCase> firsts;
  std::vector<SamplingRequest> sampling;
  for (const PlannedCase& planned : cases) {
    if (planned.is_first) {
      firsts.push_back(planned);
      SamplingRequest& of_shape = sampling.emplace_back(sampling_request());
      of_shape.verify_all = wants_stricter_runs(result_.build);
      for (const BuiltKernel* rival : rivals) {
        of_shape.rivals.push_back(session_.own_plan(*rival, planned.shape));
      }
    }
    sampling.back().slots.push_back({planned.seed, judged_outputs_[judged_key(planned)]});
  }
  for (std::size_t shape = 0; shape < firsts.size(); ++shape) {
    std::vector<TimedSlot>& slots = sampling[shape].slots;
    const std::vector<TimedSlot> inputs = slots;
    const int places = timed_places(session_, firsts[shape].shape);
    // Pages lie differently in a CPU's caches, whatever the size.
    sampling[shape].vary_places = places > 1 || result_.device == "cpu";
    for (int place = 1; place < places; ++place) {
      slots.insert(slots.end(), inputs.begin(), inputs.end());
    }
    sampling[shape].areas = static_cast<int>(slots.size()) + 1;
  }
  return run_cases_of(firsts, std::move(sampling));
}

bool EvaluationRun::fail_timing(const RunOutcome& outcome) {
  if (outcome.cancelled) {
    return fail(Verdict::Infrastructure, "while timing: cancelled");
  }
  const auto faulty =
      std::find_if(outcome.report.cases.begin(), outcome.report.cases.end(),
                   [](const RunCaseReport& report) { return report.fault.has_value(); });
  const bool by_rival = faulty != outcome.report.cases.end() && faulty->rival;
  if (!by_rival) {
    return fail(outcome.fault->verdict, "while timing it: " + outcome.fault->detail);
  }
  if (*faulty->rival > 0) {
    session_.incumbent.reset(); // the next attempt does without
  }
  return fail(Verdict::Infrastructure,
              fmt::format("while timing {}: {}",
                          *faulty->rival == 0 ? "the baseline" : "the kernel to beat",
                          outcome.fault->detail));
}

bool EvaluationRun::take_turns(Stage stage, const std::vector<PlannedCase>& cases,
                               const BuiltKernel& built,
                               const std::vector<const BuiltKernel*>& rivals) {
  const std::size_t first_case = result_.cases.size();
  for (const PlannedCase& planned : cases) {
    if (planned.is_first) {
      result_.cases.push_back(blank_case(stage, planned));
    }
  }
  const std::vector<RunCase> run_list = timed_run_cases(cases, rivals);
  const RunOutcome outcome = run_module(
      built, run_list, 0, session_.options.run_timeout + longest_timing(run_list), rivals);
  if (outcome.fault || outcome.cancelled) {
    return fail_timing(outcome);
  }
  const std::size_t slots = cases.size() / run_list.size();
  for (const RunCaseReport& report : outcome.report.cases) {
    if (report.index >= run_list.size() || report.rival_samples_ns.size() != rivals.size()) {
      return fail(Verdict::Infrastructure, "the worker reports a case that nobody asked for");
    }
    CaseResult& timed = result_.cases[first_case + report.index];
    take_samples(report, timed);
    const auto first = cases.begin() + static_cast<std::ptrdiff_t>(report.index * slots);
    if (!judge_timed(run_list[report.index], {first, first + static_cast<std::ptrdiff_t>(slots)},
                     report, timed)) {
      return false;
    }
  }
  return true;
}

bool EvaluationRun::judge_timed(const RunCase& run_case, const std::vector<PlannedCase>& inputs,
                                const RunCaseReport& report, CaseResult& timed) {
  timed.verdict = Verdict::Correct;
  for (const TimedOutput& output : report.timed_outputs) {
    if (output.slot >= run_case.sampling->slots.size() || output.area < 0 ||
        output.area >= run_case.sampling->areas) {
      return fail(Verdict::Infrastructure, "the worker reports outputs that nobody asked for");
    }
    const CaseResult judged = judge_case(Stage::Time, inputs[output.slot % inputs.size()],
                                         output.salt, outputs_in_area(run_case, output.area));
    timed.verdict = judged.verdict;
    timed.detail = judged.detail;
    timed.mismatch = judged.mismatch;
    timed.max_error_ratio = std::max(timed.max_error_ratio, judged.max_error_ratio);
    if (judged.verdict == Verdict::Infrastructure) {
      return fail(Verdict::Infrastructure, "while judging a timed launch: " + judged.detail);
    }
    if (judged.verdict != Verdict::Correct) {
      return fail(Verdict::Unstable, "right before, wrong when timed: " + judged.detail);
    }
    if (session_.task.tolerance.reproducible) {
      timed.verdict = Verdict::Unstable;
      return fail(Verdict::Unstable, "a timed launch gave other bits than a run before on the same "
                                     "input, though right within tolerance");
    }
  }
  return true;
}

void EvaluationRun::add_libraries(const std::vector<PlannedCase>& cases, std::size_t first_case) {
  std::size_t timed = first_case;
  for (const PlannedCase& planned : cases) {
    if (planned.is_first && !session_.cancelled) {
      result_.cases[timed++].libraries =
          library_timings(session_, planned.shape, planned.seed, sampling_request());
    }
  }
}

void EvaluationRun::score() {
  std::vector<double> medians, ratios;
  for (CaseResult& timed : result_.cases) {
    if (timed.stage != Stage::Time || timed.samples_ns.empty()) {
      continue;
    }
    if (timed.median_ns <= 0 || timed.speedup <= 0) {
      fail(Verdict::Implausible, timed.shape_id + ": the clock saw no time pass");
      return;
    }
    medians.push_back(timed.median_ns);
    ratios.push_back(timed.speedup);
  }
  const auto ceilings = cached_ceilings(*session_.host);
  for (const tasks::Shape& shape : session_.task.shapes_of(ShapeSet::Search, result_.device)) {
    const double floor_ns =
        physical_floor(least_work(session_.task, shape), session_.host->device.facts, ceilings)
            .ns();
    for (const CaseResult& timed : result_.cases) {
      if (timed.shape_id == shape.id && timed.stage == Stage::Time &&
          timed.median_ns < kFloorMargin * floor_ns) {
        fail(Verdict::Implausible,
             fmt::format("{}: {:.0f} ns, less than the {:.0f} ns that reading its inputs and doing "
                         "its operations takes at least",
                         shape.id, timed.median_ns, floor_ns));
        return;
      }
    }
  }
  result_.score_ns = tasks::geometric_mean(medians);
  result_.speedup = tasks::geometric_mean(ratios);
  result_.speedup_bounds = bounds_of_speedup(result_.cases, Stage::Time);
  if (session_.incumbent) {
    result_.race = race_of(result_.cases, session_.incumbent->name);
  }
}

} // namespace winnow::evaluators
