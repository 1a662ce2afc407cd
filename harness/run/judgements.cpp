#include "harness/run/judgements.h"

#include "evaluators/evaluation/evaluator.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Verdict;

// The evaluator has already repeated each evaluation that failed because of the machine.
constexpr int kFaultsInARow = 3;

} // namespace

Judgements::Judgements(const RunLoopSetup& setup, const std::shared_ptr<RunQueue>& queue,
                       const RunClock& clock, StopSign& stop, CandidateShelf& shelf,
                       VerdictTally& tally)
    : setup_(setup), clock_(clock), stop_(stop), shelf_(shelf), tally_(tally),
      evaluations_(setup.evaluations(
          [queue](evaluators::EvaluationResult result) { queue->push(std::move(result)); })) {}

void Judgements::submit(TaskState& state, const search::Evaluate& evaluate) {
  const store::CandidateRow row = setup_.journal.store().candidate(evaluate.candidate);
  const bool is_baseline = evaluate.candidate == state.baseline;
  const bool is_given = row.call_key.empty() && !is_baseline;
  const std::string key = is_given ? state.task->name + "/seed" : row.call_key;
  evaluators::EvaluationRequest request;
  request.task = state.task;
  request.text = row.text;
  request.file_name = is_baseline ? "baseline.cu" : key + ".cu";
  request.choices = evaluate.choices;
  request.protocol = setup_.config.evaluation;
  if (evaluate.is_heat()) {
    request.depth = evaluators::Depth::Trial;
    request.turns = evaluate.turns;
  }
  // The choices of a heat take turns with the default choice of the same file.
  const auto rival = evaluate.is_heat() ? std::optional(evaluate.candidate) : evaluate.incumbent;
  if (rival) {
    const ShelvedCandidate& incumbent = shelf_.at(*rival);
    request.incumbent = evaluators::KernelToBeat{incumbent.text, incumbent.evaluation.parameters};
  }
  request.id = evaluators::request_id(request, evaluate.candidate);
  judging_[request.id] = {&state, evaluate, key, row.text};
  setup_.journal.when_durable(
      [this, request = std::move(request)] { evaluations_->submit(request); });
}

void Judgements::finish(evaluators::EvaluationResult& result) {
  const auto it = judging_.find(result.id);
  if (it == judging_.end()) {
    return;
  }
  const Judgement judgement = std::move(it->second);
  judging_.erase(it);
  if (!result.fault.empty()) {
    result.evaluations = {machine_fault(result.fault)};
  }
  tasks::Evaluation& first = result.evaluations.front();
  if (first.verdict == Verdict::Infrastructure) {
    record_fault(judgement, first);
    return;
  }
  faults_in_a_row_ = 0;
  if (judgement.what.is_heat()) {
    record_heat(judgement, result);
  } else {
    record(judgement, result.id, first);
  }
}

tasks::Evaluation Judgements::machine_fault(const std::string& detail) const {
  tasks::Evaluation evaluation =
      evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
  evaluation.verdict = Verdict::Infrastructure;
  evaluation.detail = detail;
  return evaluation;
}

/// A fault of the machine is not a verdict: the search decides whether the candidate is judged
/// again.
void Judgements::record_fault(const Judgement& judgement, const tasks::Evaluation& fault) {
  commit(setup_.journal, *judgement.state, [&]() -> std::vector<search::Event> {
    setup_.journal.event("machine fault", account_of(judgement, fault));
    return {search::Faulted{judgement.candidate(), judgement.what.choices, judgement.what.turns}};
  });
  settle(judgement, fault);
  if (++faults_in_a_row_ >= kFaultsInARow) {
    stop_.stop(StopSign::Reason::Failure, "the machine keeps failing: " + fault.detail);
  }
}

void Judgements::record_heat(const Judgement& judgement,
                             const evaluators::EvaluationResult& result) {
  commit(setup_.journal, *judgement.state, [&]() -> std::vector<search::Event> {
    setup_.journal.add_trials(judgement.candidate(), result.evaluations, result.id,
                              judgement.what.turns);
    search::Tried tried{judgement.candidate(), {}, 0};
    for (const tasks::Evaluation& trial : result.evaluations) {
      tried.trials.push_back(search::trial_of(trial));
      tried.device_seconds += trial.seconds;
    }
    return {tried};
  });
  settle(judgement, {});
}

void Judgements::record(const Judgement& judgement, const std::string& request,
                        tasks::Evaluation& evaluation) {
  TaskState& state = *judgement.state;
  search::Outcome outcome = search::outcome_of(evaluation, judgement.text);
  outcome.promoted = state.search->promotes(judgement.candidate(), outcome);
  if (evaluation.promoted && !outcome.promoted) {
    evaluation.notes.insert(
        evaluation.notes.begin(),
        "faster than the best kernel on the shown shapes, but more than 10 % slower on "
        "shapes of other sizes: this kernel does not become the best");
  }
  evaluation.promoted = outcome.promoted;
  const std::optional<search::Outcome>& of_default =
      state.search->find(judgement.candidate())->of_default;
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    if (!of_default) {
      setup_.journal.add_evaluations(judgement.candidate(), {evaluation}, request);
    } else if (search::is_better(outcome, *of_default)) {
      setup_.journal.supersede_evaluation(judgement.candidate(), evaluation, request);
    } else {
      setup_.journal.add_trials(judgement.candidate(), {evaluation}, request, 0);
    }
    setup_.journal.event("judged", account_of(judgement, evaluation));
    return {search::Evaluated{judgement.candidate(), outcome}};
  });
  shelf_.forget(judgement.candidate());
  settle(judgement, {});
}

/// Counts and reports the candidate if its last evaluation has ended. `fault`: of the machine.
void Judgements::settle(const Judgement& judgement, const tasks::Evaluation& fault) {
  TaskState& state = *judgement.state;
  const std::optional<search::Outcome>& outcome =
      state.search->find(judgement.candidate())->outcome;
  if (!outcome) {
    return;
  }
  shelf_.forget(judgement.candidate());
  tally_.count(state, judgement.candidate(), *outcome);
  const tasks::Evaluation& evaluation = outcome->verdict == Verdict::Infrastructure
                                            ? fault
                                            : shelf_.at(judgement.candidate()).evaluation;
  if (judgement.key.empty()) {
    tally_.tell_baseline(state, evaluation);
  } else {
    tally_.tell(state, judgement.key, evaluation);
  }
}

nlohmann::json Judgements::account_of(const Judgement& judgement,
                                      const tasks::Evaluation& evaluation) const {
  return {{"key", judgement.key.empty() ? judgement.state->task->name : judgement.key},
          {"verdict", to_string(evaluation.verdict)},
          {"detail", evaluation.detail},
          {kElapsedSeconds, seconds(clock_.elapsed())}};
}

} // namespace winnow::harness
