#pragma once

#include "harness/run/model_calls.h"
#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/task_state.h"
#include "harness/run/state/verdict_tally.h"

#include <vector>

namespace winnow::harness {

/// The tasks of the run, with searches to which the logs of earlier sessions are applied. What was
/// decided and has no result is left to do.
std::vector<TaskState> restored_tasks(const RunLoopSetup& setup, CandidateShelf& shelf,
                                      VerdictTally& tally);

/// A reply that an earlier session stored and did not use any more.
struct UnusedReply {
  TaskState* state = nullptr;
  search::Ask ask;
  agents::ModelReply reply;
};
/// Adds up what the replies to earlier sessions have cost. The calls of unused replies are no
/// longer among the tasks' unsent calls.
std::vector<UnusedReply> restored_replies(const RunLoopSetup& setup, std::vector<TaskState>& tasks,
                                          ModelCalls& calls, VerdictTally& tally);

} // namespace winnow::harness
