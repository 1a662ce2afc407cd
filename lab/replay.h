#pragma once

#include "lab/recorded_search.h"

#include <cstddef>
#include <string>

namespace winnow::lab {

/// How far a policy can go on a recorded search.
struct Replay {
  std::size_t recorded = 0; ///< calls of the log that have a reply
  std::size_t replayed = 0; ///< calls of the policy that the log answers
  /// The measured log speedup of the best promoted kernel after these calls; at least 0.
  double best = 0;
  /// Of the recorded search after as many judged calls.
  double recorded_best = 0;
  std::string why_stopped; ///< empty: the policy makes no further call
};

/// What the policy would have done with the recorded replies. A call is answered by the reply to a
/// recorded call with the same operator, the same model and parents of the same content; each
/// reply answers once. Verdicts, times and tunings are the recorded ones, and come in the recorded
/// order. The replay stops at the first decision that the log does not answer. Throws Error if the
/// log contradicts itself.
Replay replay(const RecordedSearch& recorded, const search::Policy& policy);

} // namespace winnow::lab
