#include "harness/run/state/verdict_tally.h"

#include "base/text.h"
#include "base/text/number_text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/report/counted.h"
#include "tasks/task/baseline.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Verdict;

std::string attempt_line(const std::string& key, const tasks::Evaluation& evaluation) {
  std::string line = fmt::format("{} {}", key, to_string(evaluation.verdict));
  if (evaluation.verdict == Verdict::Correct) {
    if (evaluation.score_ns > 0) {
      line += " " + time_text(evaluation.score_ns) + " " + number_text(evaluation.speedup) + "x";
    }
    line += evaluation.promoted ? "" : ", not promoted: slow on hidden shapes";
  } else if (!evaluation.detail.empty()) {
    line += ": " + std::string(split_lines(evaluation.detail).front());
  }
  return line;
}

} // namespace

void VerdictTally::count(Verdict verdict) {
  ++verdicts_[std::string(to_string(verdict))];
  last_result_ = clock_.elapsed();
}

void VerdictTally::count(TaskState& state, store::RowId candidate, const search::Outcome& outcome) {
  if (candidate == state.baseline) {
    return;
  }
  count(outcome.verdict);
  if (search::is_contender(outcome, evaluators::kEvaluatorVersion)) {
    state.speedups.set(candidate, outcome.speedup);
  }
}

void VerdictTally::withdraw(TaskState& state, store::RowId candidate,
                            const search::Outcome& outcome) {
  if (candidate != state.baseline) {
    --verdicts_[std::string(to_string(outcome.verdict))];
    state.speedups.erase(candidate);
  }
}

void VerdictTally::tell(const TaskState& state, const std::string& key,
                        const tasks::Evaluation& evaluation) {
  std::string line = attempt_line(key, evaluation);
  const double best = state.speedups.best();
  if (best > 0) {
    line += " (best " + number_text(best) + "x)";
  }
  const bool is_best = evaluation.verdict == Verdict::Correct && evaluation.promoted && best > 1 &&
                       evaluation.speedup == best;
  setup_.progress.event(line, is_best ? Progress::Weight::Important : Progress::Weight::Routine);
}

void VerdictTally::tell_baseline(const TaskState& state, const tasks::Evaluation& evaluation) {
  check_baseline(state, evaluation);
  if (evaluation.verdict == Verdict::Correct) {
    setup_.progress.event(attempt_line(state.task->name + " baseline", evaluation));
  }
}

void VerdictTally::check_baseline(const TaskState& state, const tasks::Evaluation& evaluation) {
  if (evaluation.verdict != Verdict::Correct) {
    const std::string line = attempt_line(state.task->name + " baseline", evaluation);
    const std::string remedy =
        evaluation.verdict == Verdict::Infrastructure
            ? "`winnow doctor` checks the machine, and `winnow resume` tries the baseline again"
            : fmt::format("mend the task's {} or reference.{}", tasks::baseline_file(*state.task),
                          state.task->torch ? "py" : "cu");
    stop_.note_trouble(line + "; the run leaves the task out: " + remedy);
    setup_.journal.event("task left out", {{"task", state.task->name}, {"reason", line}});
    setup_.progress.event(stop_.trouble(), Progress::Weight::Important);
  }
}

void VerdictTally::tell_restored(std::int64_t replies) {
  std::int64_t judged = 0;
  for (const auto& [verdict, candidates] : verdicts_) {
    judged += candidates;
  }
  setup_.progress.event(fmt::format("the store has {} to this run ({} judged, {} correct)",
                                    counted(replies, "reply", "replies"), judged,
                                    verdicts_["correct"]),
                        Progress::Weight::Important);
}

} // namespace winnow::harness
