#pragma once

#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/task_state.h"
#include "harness/run/state/verdict_tally.h"

#include <optional>
#include <set>
#include <string>

namespace winnow::harness {

/// The replies of roles in a run: parses them, stores them with the search's event, and scores them
/// once the kernels that they speak of are judged.
class RoleIntake {
public:
  RoleIntake(const RunLoopSetup& setup, CandidateShelf& shelf, VerdictTally& tally)
      : setup_(setup), shelf_(shelf), tally_(tally) {}

  /// A reply of no use is stored with the reason. A candidate that the verifier rejects gets the
  /// verdict Refused, and one that the forecaster leaves out the verdict NotJudged.
  void accept_reply(TaskState& state, const search::Ask& ask, const agents::ModelReply& reply);
  /// The limits allow no call of the role now: the search goes on without it. `decided_at`:
  /// nullopt: the log has the decision.
  void skip(TaskState& state, const search::Ask& ask,
            const std::optional<search::Capacity>& decided_at, const std::string& why);
  /// Scores what the roles have said about candidates that are judged by now, and tells if the
  /// search has switched a role off.
  void follow(TaskState& state);

private:
  void score(const TaskState& state, const search::Individual& judged);
  void score_judge(const search::Individual& child);
  void score_verifier(const TaskState& state, const search::Individual& judged);
  tasks::Evaluation refused_by(const std::string& role, const std::string& advice) const;
  void tell_refused(TaskState& state, store::RowId candidate, const tasks::Evaluation& refused);
  void tell_switches(const TaskState& state);

  const RunLoopSetup& setup_;
  CandidateShelf& shelf_;
  VerdictTally& tally_;
  std::set<std::string> told_; ///< "TASK/ROLE" that were told to be off
};

} // namespace winnow::harness
