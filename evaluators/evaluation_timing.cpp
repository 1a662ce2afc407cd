// The timing stage of EvaluationRun: the candidate beside the task's baseline.
#include "evaluators/evaluation_run.h"
#include "evaluators/library_timing.h"
#include "evaluators/timing/sampling.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr int kRounds = 2; // baseline and candidate take turns, so that a slow spell hits both
constexpr int kQuickDivisor = 4;
constexpr int kSlots = 3;
constexpr int kFewSlots = 2; // where drawing and judging inputs is dear
constexpr std::uint64_t kPoolBytes = std::uint64_t{1} << 30; // of kSlots sets of tensors

std::uint64_t tensor_bytes(const tasks::Task& task, const tasks::Shape& shape) {
  std::uint64_t bytes = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    bytes += static_cast<std::uint64_t>(tasks::element_count(tensor, shape)) *
             tasks::size_bytes(tensor.dtype);
  }
  return bytes;
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
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, timed_slots(session_), built_, cases)) {
    return false;
  }
  const std::size_t first_case = result_.cases.size();
  if (!take_turns(Stage::Time, cases, built_)) {
    return false;
  }
  if (depth_ == Depth::Full) {
    add_libraries(cases, first_case);
  }
  score();
  return result_.verdict != Verdict::Implausible;
}

bool EvaluationRun::take_turns(Stage stage, const std::vector<PlannedCase>& cases,
                               const BuiltKernel& built) {
  const std::size_t first_case = result_.cases.size();
  for (const PlannedCase& planned : cases) {
    if (planned.is_first) {
      result_.cases.push_back(blank_case(stage, planned));
    }
  }
  std::vector<PlannedCase> baseline_cases = cases;
  for (PlannedCase& planned : baseline_cases) {
    planned.plan = session_.own_plan(session_.baseline, planned.shape);
  }
  for (int round = 0; round < kRounds; ++round) {
    if (!add_samples(session_.baseline, baseline_cases, first_case, true) ||
        !add_samples(built, cases, first_case, false)) {
      return false;
    }
  }
  return true;
}

SamplingRequest EvaluationRun::sampling_request() const {
  SamplingRequest sampling;
  const std::chrono::milliseconds asked = session_.options.time_budget;
  sampling.budget = (asked.count() > 0 ? asked : default_time_budget(result_.device)) / kRounds;
  if (depth_ == Depth::Quick || result_.stage == Stage::Promotion) { // a gate of 10 % needs less
    sampling.budget /= kQuickDivisor;
    sampling.min_samples = 3;
  }
  return sampling;
}

std::vector<RunCase> EvaluationRun::timed_run_cases(const std::vector<PlannedCase>& cases,
                                                    bool is_baseline, std::size_t first_case) {
  SamplingRequest sampling = sampling_request();
  sampling.areas = timed_slots(session_) + 1;
  sampling.verify_all =
      !is_baseline && (speedup_so_far(first_case) > 1 || wants_stricter_runs(result_.build));
  std::vector<PlannedCase> firsts;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(firsts),
               [](const PlannedCase& planned) { return planned.is_first; });
  std::vector<RunCase> run_list = run_cases_of(firsts, &sampling);
  std::size_t shape = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    shape += i > 0 && cases[i].is_first ? 1 : 0;
    run_list[shape].sampling->slots.push_back(
        {cases[i].seed, is_baseline ? std::map<std::string, std::uint64_t>{}
                                    : judged_outputs_[judged_key(cases[i])]});
    if (is_baseline) {
      run_list[shape].outputs.clear(); // it was judged when it was a candidate itself
    }
  }
  return run_list;
}

bool EvaluationRun::add_samples(const BuiltKernel& built, const std::vector<PlannedCase>& cases,
                                std::size_t first_case, bool is_baseline) {
  const std::vector<RunCase> run_list = timed_run_cases(cases, is_baseline, first_case);
  const RunOutcome outcome = run_module(built, run_list, 0, session_.options.run_timeout);
  if (outcome.fault || outcome.cancelled) {
    const Verdict verdict =
        is_baseline || outcome.cancelled ? Verdict::Infrastructure : outcome.fault->verdict;
    return fail(verdict, fmt::format("while timing {}: {}", is_baseline ? "the baseline" : "it",
                                     outcome.cancelled ? "cancelled" : outcome.fault->detail));
  }
  const std::size_t slots = cases.size() / run_list.size();
  for (const RunCaseReport& report : outcome.report.cases) {
    if (report.index >= run_list.size()) {
      return fail(Verdict::Infrastructure, "the worker reports a case that nobody asked for");
    }
    CaseResult& timed = result_.cases[first_case + report.index];
    auto& samples = is_baseline ? timed.baseline_samples_ns : timed.samples_ns;
    samples.insert(samples.end(), report.samples_ns.begin(), report.samples_ns.end());
    if (is_baseline) {
      continue;
    }
    timed.prepare_ns = report.prepare_ns;
    const auto first = cases.begin() + static_cast<std::ptrdiff_t>(report.index * slots);
    if (!judge_timed(run_list[report.index], {first, first + static_cast<std::ptrdiff_t>(slots)},
                     report, timed)) {
      return false;
    }
  }
  return true;
}

bool EvaluationRun::judge_timed(const RunCase& run_case, const std::vector<PlannedCase>& slots,
                                const RunCaseReport& report, CaseResult& timed) {
  timed.verdict = Verdict::Correct;
  for (const TimedOutput& output : report.timed_outputs) {
    if (output.slot >= slots.size() || output.area < 0 || output.area >= run_case.sampling->areas) {
      return fail(Verdict::Infrastructure, "the worker reports outputs that nobody asked for");
    }
    const CaseResult judged = judge_case(Stage::Time, slots[output.slot], output.salt,
                                         outputs_in_area(run_case, output.area));
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

void EvaluationRun::take_medians(CaseResult& timed) {
  timed.median_ns = tasks::median(timed.samples_ns);
  timed.baseline_median_ns = tasks::median(timed.baseline_samples_ns);
}

double EvaluationRun::speedup_so_far(std::size_t first_case) const {
  std::vector<double> ratios;
  for (std::size_t i = first_case; i < result_.cases.size(); ++i) {
    const CaseResult& timed = result_.cases[i];
    if (!timed.samples_ns.empty() && !timed.baseline_samples_ns.empty()) {
      ratios.push_back(tasks::median(timed.baseline_samples_ns) /
                       std::max(1.0, tasks::median(timed.samples_ns)));
    }
  }
  return ratios.empty() ? 0 : tasks::geometric_mean(ratios);
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
    take_medians(timed);
    if (timed.median_ns <= 0 || timed.baseline_median_ns <= 0) {
      fail(Verdict::Implausible, timed.shape_id + ": the clock saw no time pass");
      return;
    }
    medians.push_back(timed.median_ns);
    ratios.push_back(timed.baseline_median_ns / timed.median_ns);
  }
  for (const tasks::Shape& shape : session_.task.shapes_of(ShapeSet::Search, result_.device)) {
    tasks::Scope scope;
    tasks::bind_shape(session_.task, shape, scope);
    const double floor_ns = physical_floor_ns(session_.task.bytes.evaluate_float(scope),
                                              session_.task.operations.evaluate_float(scope),
                                              session_.host->device.facts);
    for (const CaseResult& timed : result_.cases) {
      if (timed.shape_id == shape.id && timed.stage == Stage::Time && timed.median_ns < floor_ns) {
        fail(Verdict::Implausible,
             fmt::format("{}: {:.0f} ns, less than the {:.0f} ns that moving its bytes and doing "
                         "its operations takes at least",
                         shape.id, timed.median_ns, floor_ns));
        return;
      }
    }
  }
  result_.score_ns = tasks::geometric_mean(medians);
  result_.speedup = tasks::geometric_mean(ratios);
}

} // namespace winnow::evaluators
