#pragma once

#include "agents/prompts/prompts.h"
#include "base/recent.h"
#include "store/run_store.h"

#include <string>

namespace winnow::harness {

/// A candidate of the store, as prompts and races need it.
struct ShelvedCandidate {
  std::string text; ///< the kernel file; empty if the reply contained none
  std::string idea; ///< what the reply says about it in a line; empty: nothing, or no reply
  store::RowId parent = 0;
  /// Without raw samples. The verdict is Infrastructure if the candidate is not judged.
  tasks::Evaluation evaluation;
};

/// Reads candidates from the store and keeps those that were used last.
class CandidateShelf {
public:
  /// Keeps enough for the prompts of so many calls at a time.
  CandidateShelf(const store::RunStore& store, int parallel_calls);
  /// Valid until the next call. Throws UsageError if the store does not have the candidate.
  const ShelvedCandidate& at(store::RowId candidate);
  /// What histories tell about the candidate, without its number. Throws as at().
  agents::EarlierAttempt earlier(store::RowId candidate);
  /// The candidate is read again when it is needed next.
  void forget(store::RowId candidate);

private:
  const store::RunStore& store_;
  Recent<store::RowId, ShelvedCandidate> whole_;
  Recent<store::RowId, agents::EarlierAttempt> earlier_;
};

} // namespace winnow::harness
