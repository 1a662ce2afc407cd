// The timing stage of EvaluationRun: the candidate beside the task's baseline.
#include "evaluators/evaluation_run.h"
#include "evaluators/library_timing.h"
#include "evaluators/timing/sampling.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr int kRounds = 2; // baseline and candidate take turns, so that a slow spell hits both
constexpr int kQuickDivisor = 4;

} // namespace

bool EvaluationRun::time() {
  if (!session_.options.timing) {
    return true;
  }
  result_.stage = Stage::Time;
  const std::vector<tasks::Shape> shapes =
      session_.task.shapes_of(ShapeSet::Search, result_.device);
  session_.own_kernel(session_.baseline_file, session_.task, shapes, session_.baseline);
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, 1, built_, cases)) {
    return false;
  }
  const std::size_t first_case = result_.cases.size();
  for (const PlannedCase& planned : cases) {
    result_.cases.push_back(blank_case(Stage::Time, planned));
  }
  std::vector<PlannedCase> baseline_cases = cases;
  for (PlannedCase& planned : baseline_cases) {
    planned.plan = session_.own_plan(session_.baseline, planned.shape);
  }
  for (int round = 0; round < kRounds; ++round) {
    if (!add_samples(session_.baseline, baseline_cases, first_case, true) ||
        !add_samples(built_, cases, first_case, false)) {
      return false;
    }
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
  sampling.budget = (asked.count() > 0 ? asked : default_time_budget(result_.device)) / kRounds;
  if (depth_ == Depth::Quick) {
    sampling.budget /= kQuickDivisor;
    sampling.min_samples = 3;
  }
  return sampling;
}

bool EvaluationRun::add_samples(const BuiltKernel& built, const std::vector<PlannedCase>& cases,
                                std::size_t first_case, bool is_baseline) {
  const SamplingRequest sampling = sampling_request();
  std::vector<RunCase> run_list = run_cases_of(cases, &sampling);
  for (std::size_t i = 0; i < run_list.size(); ++i) {
    if (is_baseline) {
      run_list[i].outputs.clear(); // it was judged when it was a candidate itself
    } else {
      run_list[i].known_outputs = judged_outputs_[judged_key(cases[i])];
    }
  }
  const RunOutcome outcome = run_module(built, run_list, 0, session_.options.run_timeout);
  if (outcome.fault || outcome.cancelled) {
    const Verdict verdict =
        is_baseline || outcome.cancelled ? Verdict::Infrastructure : outcome.fault->verdict;
    return fail(verdict, fmt::format("while timing {}: {}", is_baseline ? "the baseline" : "it",
                                     outcome.cancelled ? "cancelled" : outcome.fault->detail));
  }
  for (const RunCaseReport& report : outcome.report.cases) {
    if (report.index >= cases.size()) {
      return fail(Verdict::Infrastructure, "the worker reports a case that nobody asked for");
    }
    CaseResult& timed = result_.cases[first_case + report.index];
    auto& samples = is_baseline ? timed.baseline_samples_ns : timed.samples_ns;
    samples.insert(samples.end(), report.samples_ns.begin(), report.samples_ns.end());
    if (is_baseline) {
      continue;
    }
    timed.prepare_ns = report.prepare_ns;
    if (report.outputs_known) {
      timed.verdict = Verdict::Correct;
      continue;
    }
    // What the timed process computed is judged too.
    const CaseResult judged = judge_case(Stage::Time, cases[report.index], run_list[report.index]);
    timed.verdict = judged.verdict;
    timed.detail = judged.detail;
    timed.mismatch = judged.mismatch;
    timed.max_error_ratio = judged.max_error_ratio;
    if (judged.verdict != Verdict::Correct) {
      const Verdict verdict =
          judged.verdict == Verdict::Infrastructure ? Verdict::Infrastructure : Verdict::Unstable;
      return fail(verdict, "right before, wrong after timed launches: " + judged.detail);
    }
  }
  return true;
}

void EvaluationRun::add_libraries(const std::vector<PlannedCase>& cases, std::size_t first_case) {
  for (std::size_t i = 0; i < cases.size() && !session_.cancelled; ++i) {
    result_.cases[first_case + i].libraries =
        library_timings(session_, cases[i].shape, cases[i].seed, sampling_request());
  }
}

void EvaluationRun::score() {
  std::vector<double> medians, ratios;
  for (CaseResult& timed : result_.cases) {
    if (timed.stage != Stage::Time || timed.samples_ns.empty()) {
      continue;
    }
    timed.median_ns = tasks::median(timed.samples_ns);
    timed.baseline_median_ns = tasks::median(timed.baseline_samples_ns);
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
