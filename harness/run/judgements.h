#pragma once

#include "evaluators/evaluation/evaluations.h"
#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_clock.h"
#include "harness/run/state/run_event.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/stop_sign.h"
#include "harness/run/state/task_state.h"
#include "harness/run/state/verdict_tally.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// The evaluations of a run's candidates: asks for them, and stores and logs their results.
class Judgements {
public:
  /// Results come through `queue`.
  Judgements(const RunLoopSetup& setup, const std::shared_ptr<RunQueue>& queue,
             const RunClock& clock, StopSign& stop, CandidateShelf& shelf, VerdictTally& tally);

  void submit(TaskState& state, const search::Evaluate& evaluate);
  void finish(evaluators::EvaluationResult& result);
  /// No result comes after this.
  void stop() { evaluations_->stop(); }

  bool empty() const { return judging_.empty(); }
  std::size_t size() const { return judging_.size(); } ///< queued or running

private:
  struct Judgement {
    TaskState* state = nullptr;
    search::Evaluate what;
    std::string key; ///< of the call; empty: the baseline
    std::string text;
    store::RowId candidate() const { return what.candidate; }
  };

  void record_fault(const Judgement& judgement, const tasks::Evaluation& fault);
  void record_heat(const Judgement& judgement, const evaluators::EvaluationResult& result);
  void record(const Judgement& judgement, evaluators::EvaluationResult& result);
  bool suspend_incumbent(const Judgement& judgement, const tasks::Evaluation& evaluation);
  void settle(const Judgement& judgement, const tasks::Evaluation& last, bool counts);
  nlohmann::json account_of(const Judgement& judgement, const tasks::Evaluation& evaluation) const;

  const RunLoopSetup& setup_;
  const RunClock& clock_;
  StopSign& stop_;
  CandidateShelf& shelf_;
  VerdictTally& tally_;
  std::map<std::string, Judgement> judging_; ///< by request id
  int faults_in_a_row_ = 0;                  ///< of the machine
  std::unique_ptr<evaluators::Evaluations> evaluations_;
};

} // namespace winnow::harness
