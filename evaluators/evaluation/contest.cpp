#include "evaluators/evaluation/contest.h"

#include "base/digest.h"
#include "base/error.h"

#include <iterator>

#include <fmt/format.h>

namespace winnow::evaluators {

using tasks::Verdict;

std::size_t Contest::add(BuiltKernel built, const std::vector<tasks::Shape>& shapes) {
  const tasks::BuildRecord& record = built.compiled.build;
  std::string text =
      record.machine_code_digest.empty() ? record.digest : record.machine_code_digest;
  for (const tasks::Shape& shape : shapes) {
    text += on_device_.own_plan(built, shape).text();
  }
  const auto [same, is_new] = known_.emplace(sha256_hex(text), contestants_.size());
  if (is_new) {
    contestants_.push_back({std::move(built), Verdict::Correct, {}});
  }
  return same->second;
}

std::vector<std::size_t> Contest::present() const {
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    if (contestants_[i].verdict == Verdict::Correct) {
      running.push_back(i);
    }
  }
  return running;
}

Contest::Turns Contest::run(std::vector<std::size_t> running, Series series) {
  std::vector<const BuiltKernel*> rivals;
  for (auto one = std::next(running.begin()); one != running.end(); ++one) {
    const BuiltKernel& rival = contestants_[*one].built;
    rivals.push_back(&rival);
    for (std::size_t i = 0; i < series.planned.size(); ++i) {
      series.sampling[i].rivals.push_back(on_device_.own_plan(rival, series.planned[i].shape));
    }
  }
  Turns turns;
  turns.cases = run_cases_of(on_device_, series.planned, std::move(series.sampling));
  turns.planned = std::move(series.planned);
  turns.outcome = run_module(on_device_, contestants_[running.front()].built, turns.cases, 0,
                             on_device_.options.run_timeout + longest_timing(turns.cases), rivals);
  turns.running = std::move(running);
  return turns;
}

// Every repetition of the loop follows the drop of a contestant.
std::optional<Contest::Turns> Contest::take_turns(const std::function<Series()>& series) {
  while (!on_device_.cancelled) {
    std::vector<std::size_t> running = present();
    const std::size_t left = running.size();
    if (left == 0) {
      break;
    }
    Turns turns = run(std::move(running), series());
    if (turns.outcome.cancelled) {
      break;
    }
    if (turns.outcome.fault) {
      drop_whose_fault(turns, series);
      continue;
    }
    for (const RunCaseReport& report : turns.outcome.report.cases) {
      if (report.index >= turns.cases.size() || report.rival_samples_ns.size() + 1 != left) {
        throw Error("the worker reports a case that was not requested");
      }
    }
    return turns;
  }
  return std::nullopt;
}

// A fault without a named contestant may appear only after other contestants have run. So the first
// one runs once more alone, and each other one beside it alone, until one of them faults.
void Contest::drop_whose_fault(const Turns& failed, const std::function<Series()>& series) {
  const std::vector<std::size_t>& running = failed.running;
  for (const RunCaseReport& report : failed.outcome.report.cases) {
    if (report.fault && report.rival && *report.rival + 1 < running.size()) {
      drop(running[*report.rival + 1], report.fault->verdict, report.fault->detail);
      return;
    }
  }
  for (std::size_t i = keeps_first_ ? 1 : 0; i < running.size() && !on_device_.cancelled; ++i) {
    std::vector<std::size_t> pair{running.front()};
    if (i > 0) {
      pair.push_back(running[i]);
    }
    const StageOutcome alone = run(std::move(pair), series()).outcome;
    if (alone.fault && !alone.cancelled) {
      drop(running[i], alone.fault->verdict, alone.fault->detail);
      return;
    }
  }
  if (!on_device_.cancelled) {
    throw Error("while kernels took turns: " + failed.outcome.fault->detail);
  }
}

void Contest::drop(std::size_t contestant, Verdict verdict, std::string detail) {
  const bool is_yardstick = keeps_first_ && contestant == 0;
  if (is_yardstick || verdict == Verdict::Infrastructure) {
    throw Error(fmt::format("{}: {}",
                            is_yardstick ? contestants_.front().built.file->file : "a kernel",
                            std::move(detail)));
  }
  contestants_[contestant].verdict = verdict;
  contestants_[contestant].detail = std::move(detail);
}

} // namespace winnow::evaluators
