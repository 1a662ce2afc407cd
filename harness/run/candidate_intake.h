#pragma once

#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/task_state.h"
#include "harness/run/state/verdict_tally.h"
#include "search/speed_neighbours.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// Puts candidates into the store and the search: first kernels, and the kernels in replies.
class CandidateIntake {
public:
  CandidateIntake(const RunLoopSetup& setup, CandidateShelf& shelf, VerdictTally& tally)
      : setup_(setup), shelf_(shelf), tally_(tally) {}

  /// The task's baseline and the kernel that the user starts from, as far as there are such.
  void add_first_kernels(TaskState& state);
  /// A reply without a kernel becomes a candidate with the verdict BadReply.
  void accept_reply(TaskState& state, const search::Ask& ask, const agents::ModelReply& reply);

private:
  store::RowId add_first_kernel(const TaskState& state, const std::string& origin,
                                const std::string& text);
  store::RowId add_candidate(const TaskState& state, const search::Ask& ask,
                             const std::string& text);
  store::RowId add(const TaskState& state, store::CandidateRow row);
  tasks::Evaluation bad_reply(const std::string& problem) const;
  std::vector<tasks::ParameterChoice> choices_of(const std::string& text) const;
  search::Facts facts_of(const std::string& text) const;

  const RunLoopSetup& setup_;
  CandidateShelf& shelf_;
  VerdictTally& tally_;
};

} // namespace winnow::harness
