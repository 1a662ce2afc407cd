#pragma once

#include "lab/landscape.h"
#include "lab/session.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::lab {

/// A search with its log: recorded by a run, or simulated.
struct RecordedSearch {
  std::string name; ///< for messages: "quickstart/axpy"
  search::Policy policy;
  search::Settings settings;
  std::vector<search::Event> events; ///< oldest first
  std::vector<ModelCall> calls;      ///< what the log does not know of the calls
};

/// A heat as its log tells it.
struct RecordedHeat {
  std::size_t turns = 0; ///< of all choices together
  double device_seconds = 0;
};

/// A judged reply, in the order in which the calls were decided.
struct RecordedCall {
  std::string op;
  ParentState state = ParentState::First;
  search::Outcome outcome;    ///< after tuning
  search::Outcome of_default; ///< before tuning
  std::size_t choices = 0;    ///< of its parameters; 0 or 1: there is none
  bool is_settled = true;     ///< false: the log ends before its evaluations or its tuning
  std::vector<RecordedHeat> heats = {};
  std::string parent_cell = {}; ///< empty: the parent is not correct, or the baseline, or missing
  double best_before = 0;       ///< log speedup of the best kernel of the earlier calls; at least 0
  double level = 0;             ///< log speedup; 0 unless correct

  bool is_correct() const { return outcome.verdict == tasks::Verdict::Correct; }
  /// By how much it beats the best kernel before; 0: it does not.
  double gain() const;
};

/// The judged replies of a search.
std::vector<RecordedCall> calls_of(const RecordedSearch& search);

} // namespace winnow::lab
