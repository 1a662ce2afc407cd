#pragma once

#include "tasks/result/evaluation.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// A judged candidate, in the form that strategies and prompts use.
struct PastAttempt {
  std::int64_t candidate = 0; ///< its row in the store
  std::string text;           ///< the kernel file; empty if the reply contained none
  tasks::Evaluation evaluation;
};

/// Proposals that build on one another, in order. attempts[s] is the result of step s.
struct Chain {
  std::vector<PastAttempt> attempts;
  /// No more replies will come: a replay is exhausted, or a call failed for good.
  bool ended = false;
};

/// Everything that happened on one task so far.
struct TaskHistory {
  PastAttempt baseline;
  std::vector<Chain> chains; ///< grows as chains get their first attempt

  const Chain* find(std::size_t chain) const {
    return chain < chains.size() ? &chains[chain] : nullptr;
  }
  /// Creates the chain if it does not exist. The reference is valid until the next call.
  Chain& open(std::size_t chain) {
    chains.resize(std::max(chains.size(), chain + 1));
    return chains[chain];
  }
};

/// A call that may be made now. Indices refer to the attempts of its own chain.
struct Proposal {
  std::size_t chain = 0;
  std::size_t step = 0;
  std::optional<std::size_t> best;     ///< fastest correct attempt so far
  std::optional<std::size_t> previous; ///< the latest attempt, if it is worth showing in full
  /// The attempt that the proposal builds on; nullopt: the baseline.
  std::optional<std::size_t> parent;
};

/// "TASK/CHAIN/STEP". Names the call within its run, in the store and in recordings.
std::string call_key(std::string_view task, const Proposal& proposal);

/// Decides what to ask next. Deterministic and without side effects: the proposals of a chain
/// depend only on the attempts of that chain. So a resumed run asks the same questions, whatever
/// the order of the replies.
class Strategy {
public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  /// Every proposal that could be in flight now, including those that are in flight.
  virtual std::vector<Proposal> next(const TaskHistory& history) const = 0;
};

struct StrategySettings {
  std::size_t proposals = 6; ///< per task
  std::size_t chains = 1;    ///< one-plus-one: the proposals are divided among this many chains
};

const std::vector<std::string>& strategy_names();
/// Throws UsageError (with the nearest match) for an unknown name.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategySettings& settings);

} // namespace winnow::harness
