// How the kernels of EvaluationRun take turns, and what happens when one of them is at fault.
#include "base/error.h"
#include "evaluators/evaluation/eager_times.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/timing/incumbent_speed.h"
#include "evaluators/timing/timed_case.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {

using tasks::CaseResult;
using tasks::Verdict;

bool EvaluationRun::has_incumbent(const std::vector<const BuiltKernel*>& rivals) const {
  return rivals.size() > (on_device_.has_baseline() ? 1U : 0U);
}

void EvaluationRun::Doubts::add(TurnsEnd end, const std::string& what) {
  const bool fault = end == TurnsEnd::NotReproduced || end == TurnsEnd::OwnFault;
  wrong += end == TurnsEnd::Doubted ? 1 : 0;
  faults += fault ? 1 : 0;
  own_faults += end == TurnsEnd::OwnFault ? 1 : 0;
  detail = fault || end == TurnsEnd::Doubted ? what : detail;
}

bool EvaluationRun::take_turns(tasks::Stage stage, const std::vector<PlannedCase>& cases,
                               const BuiltKernel& built,
                               const std::vector<const BuiltKernel*>& all) {
  const std::size_t first_case = result_.cases.size();
  std::vector<const BuiltKernel*> rivals = all;
  Doubts doubts;
  for (;;) {
    const TurnsEnd end = hold_series(stage, cases, built, rivals);
    const bool beside = has_incumbent(rivals);
    doubts.add(end, result_.detail);
    if (end == TurnsEnd::Failed) {
      return false;
    }
    if (end == TurnsEnd::Passed) {
      if (beside || on_device_.suspended || doubts.wrong != 1 || doubts.faults > 1) {
        return settle(doubts, beside);
      }
      rivals = all; // one wrong answer beside the incumbent: does it come back there?
    } else if (doubts.faults > 1 && (!beside || doubts.own_faults > 1)) {
      return fail(doubts.own_faults > 1 ? Verdict::Unstable : Verdict::Infrastructure,
                  doubts.detail);
    } else if (!doubts.is_first_fault(end)) {
      rivals.pop_back();
      forget_race();
    }
    result_.cases.resize(first_case);
    fail(Verdict::NotJudged, {}); // the next series decides
  }
}

// The last series was right. What was wrong before it is the incumbent's only if it came back
// beside the incumbent, and went away without it.
bool EvaluationRun::settle(const Doubts& doubts, bool beside_incumbent) {
  if (beside_incumbent && doubts.wrong > 0) {
    return fail(Verdict::Unstable, "wrong in some of its runs: " + doubts.detail);
  }
  if (!beside_incumbent && !on_device_.suspended && (doubts.wrong > 1 || doubts.faults > 1)) {
    on_device_.suspend_incumbent("another kernel, right without it, failed beside it twice: " +
                                 doubts.detail);
  }
  return true;
}

void EvaluationRun::forget_race() {
  result_.race.reset();
  for (CaseResult& timed : result_.cases) {
    timed.incumbent_samples_ns.clear();
  }
}

EvaluationRun::TurnsEnd EvaluationRun::hold_series(tasks::Stage stage,
                                                   const std::vector<PlannedCase>& cases,
                                                   const BuiltKernel& built,
                                                   const std::vector<const BuiltKernel*>& rivals) {
  const std::size_t first_case = result_.cases.size();
  for (const PlannedCase& planned : cases) {
    result_.cases.push_back(blank_case(stage, planned));
  }
  const std::vector<RunCase> run_list = timed_run_cases(cases, rivals);
  StageOutcome outcome = run_cases(
      built, run_list, 0, on_device_.options.run_timeout + longest_timing(run_list), rivals);
  if (outcome.cancelled) {
    fail(Verdict::Infrastructure, "while timing: cancelled");
    return TurnsEnd::Failed;
  }
  if (outcome.fault) {
    return explain_fault(outcome, cases, built, rivals);
  }
  std::vector<RunCaseReport>& reports = outcome.report.cases;
  for (const RunCaseReport& report : reports) {
    if (report.index >= run_list.size() || report.rival_samples_ns.size() != rivals.size()) {
      fail(Verdict::Infrastructure, "the worker reports a case that was not requested");
      return TurnsEnd::Failed;
    }
  }
  const auto judged = judge_timed_outputs(on_device_, run_list, cases, reports);
  bool right = true;
  for (std::size_t i = 0; i < reports.size() && right; ++i) {
    RunCaseReport& report = reports[i];
    if (!on_device_.has_baseline() && !add_eager_times(cases[report.index].shape, report)) {
      return TurnsEnd::Failed;
    }
    CaseResult& timed = result_.cases[first_case + report.index];
    take_samples(report, timed);
    if (!on_device_.has_baseline()) {
      compare_medians(timed);
    }
    right = take_judged(report, judged[i], timed);
  }
  if (result_.verdict == Verdict::Infrastructure || (!right && !has_incumbent(rivals))) {
    return TurnsEnd::Failed;
  }
  // Where memory is protected no kernel changes the answer of another.
  const bool own_answer = !on_device_.host->worker_device.is_gpu();
  if (has_incumbent(rivals)) {
    if (std::string why = why_suspended(reports, judged, rivals.size()); !why.empty()) {
      on_device_.suspend_incumbent(std::move(why));
      return right || !own_answer ? TurnsEnd::Suspended : TurnsEnd::Failed;
    }
  }
  if (!right && own_answer) {
    return TurnsEnd::Failed;
  }
  return right ? TurnsEnd::Passed : TurnsEnd::Doubted;
}

std::string EvaluationRun::why_suspended(const std::vector<RunCaseReport>& reports,
                                         const std::vector<std::vector<CaseResult>>& judged,
                                         std::size_t incumbent) const {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (std::size_t at = 0; at < judged[i].size(); ++at) {
      if (reports[i].timed_outputs[at].contestant == incumbent &&
          judged[i][at].verdict != Verdict::Correct) {
        return "a timed launch was wrong: " + (tasks::is_hidden(judged[i][at].set)
                                                   ? std::string(describe(judged[i][at].verdict))
                                                   : judged[i][at].detail);
      }
    }
  }
  return why_not_reproduced(result_.cases, on_device_.incumbent.value().earned, result_.device);
}

// Whoever ran when the fault was seen need not be at fault: another kernel may have written the
// word before. So each runs alone on fresh buffers, until one faults. If nobody does, nobody is
// blamed. The candidate runs first: if it faults alone, its verdict does not depend on the others.
EvaluationRun::TurnsEnd
EvaluationRun::explain_fault(const StageOutcome& outcome, const std::vector<PlannedCase>& cases,
                             const BuiltKernel& built,
                             const std::vector<const BuiltKernel*>& rivals) {
  const DeviceFault& fault = outcome.fault.value();
  if (fault.verdict == Verdict::Infrastructure) { // of the machine
    fail(fault.verdict, "while timing: " + fault.detail);
    return TurnsEnd::Failed;
  }
  std::vector<const BuiltKernel*> kernels{&built};
  kernels.insert(kernels.end(), rivals.rbegin(), rivals.rend());
  std::size_t culprit = 0;
  StageOutcome alone = run_alone(built, cases);
  while (!alone.fault && !alone.cancelled && ++culprit < kernels.size()) {
    alone = run_alone(*kernels[culprit], cases);
  }
  if (alone.cancelled || !alone.fault) {
    fail(on_device_.cancelled ? Verdict::Infrastructure : Verdict::NotJudged,
         "not reproduced: while kernels took turns: " + fault.detail +
             "; no kernel does this alone");
    if (on_device_.cancelled) {
      return TurnsEnd::Failed;
    }
    return faulted_itself(outcome) ? TurnsEnd::OwnFault : TurnsEnd::NotReproduced;
  }
  const bool is_incumbent = culprit == 1 && has_incumbent(rivals);
  if (is_incumbent && alone.fault->verdict != Verdict::Infrastructure) {
    on_device_.suspend_incumbent(fmt::format("it fails alone, too: {}", alone.fault->detail));
    return TurnsEnd::Suspended;
  }
  fail(culprit == 0 ? alone.fault->verdict : Verdict::Infrastructure,
       fmt::format("while timing {}: {}",
                   culprit == 0   ? "the kernel"
                   : is_incumbent ? "the incumbent"
                                  : "the baseline",
                   alone.fault->detail));
  return TurnsEnd::Failed;
}

// Where memory is protected a fault is seen while it happens, so it is of the kernel that runs.
bool EvaluationRun::faulted_itself(const StageOutcome& outcome) const {
  const std::vector<RunCaseReport>& reports = outcome.report.cases;
  return !on_device_.host->worker_device.is_gpu() &&
         std::any_of(reports.begin(), reports.end(),
                     [](const RunCaseReport& report) { return report.fault && !report.rival; });
}

StageOutcome EvaluationRun::run_alone(const BuiltKernel& kernel, std::vector<PlannedCase> cases) {
  for (PlannedCase& planned : cases) {
    planned.plan = on_device_.own_plan(kernel, planned.shape);
  }
  std::vector<RunCase> run_list = timed_run_cases(cases, {});
  const std::chrono::milliseconds wall = on_device_.options.run_timeout + longest_timing(run_list);
  return run_cases(kernel, std::move(run_list), 0, wall);
}

// PyTorch's times stand for those of the baseline.
bool EvaluationRun::add_eager_times(const tasks::Shape& shape, RunCaseReport& report) {
  try {
    report.rival_samples_ns.insert(report.rival_samples_ns.begin(), eager_times(on_device_, shape));
    return true;
  } catch (const Error& error) {
    return fail(Verdict::Infrastructure, with_remedy(error));
  }
}

bool EvaluationRun::take_judged(const RunCaseReport& report,
                                const std::vector<CaseResult>& launches, CaseResult& timed) {
  timed.verdict = Verdict::Correct;
  bool any = false;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const CaseResult& judged = launches[i];
    if (judged.verdict == Verdict::Infrastructure) {
      return fail(Verdict::Infrastructure, "while judging a timed launch: " + judged.detail);
    }
    if (report.timed_outputs[i].contestant != 0) {
      continue;
    }
    any = true;
    timed.verdict = judged.verdict;
    timed.detail = judged.detail;
    timed.mismatch = judged.mismatch;
    timed.max_error_ratio = std::max(timed.max_error_ratio, judged.max_error_ratio);
    timed.rms_error_ratio = std::max(timed.rms_error_ratio, judged.rms_error_ratio);
    if (judged.verdict != Verdict::Correct) {
      return fail(Verdict::Unstable, "right in earlier runs, wrong when timed: " + judged.detail);
    }
  }
  return any || fail(Verdict::Infrastructure, "the worker returned no output of a timed launch");
}

} // namespace winnow::evaluators
