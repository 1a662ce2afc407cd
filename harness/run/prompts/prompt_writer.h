#pragma once

#include "harness/run/prompts/lesson_book.h"
#include "harness/run/state/candidate_shelf.h"
#include "harness/run/state/run_setup.h"
#include "harness/run/state/task_state.h"

#include <string>

namespace winnow::harness {

/// Writes the request of a call that a search has decided.
class PromptWriter {
public:
  PromptWriter(const RunLoopSetup& setup, CandidateShelf& shelf)
      : setup_(setup), shelf_(shelf), lessons_(setup, shelf) {}

  agents::ModelRequest request_for(const TaskState& state, const search::Ask& ask);

private:
  std::string first_kernel(const TaskState& state, const search::Ask& ask);
  agents::ProposalContext context_for(const TaskState& state, const search::Ask& ask);
  std::string family_line(const TaskState& state, const search::Card& card);
  std::string failure_line(const TaskState& state, const search::Card& card);
  agents::Attempt attempt(const search::Card& card, bool with_limits);
  std::string limits_of(store::RowId candidate);

  const RunLoopSetup& setup_;
  CandidateShelf& shelf_;
  LessonBook lessons_;
};

} // namespace winnow::harness
