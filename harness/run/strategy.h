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

/// A judged candidate, as strategies and prompts see it.
struct PastAttempt {
  std::int64_t candidate = 0; ///< its row in the store
  std::string text;           ///< the kernel file; empty when the reply held none
  tasks::Evaluation evaluation;
};

/// Proposals that build on one another, in order: attempts[s] answers step s.
struct Chain {
  std::vector<PastAttempt> attempts;
  bool ended = false; ///< no more answers will come (a replay is exhausted, a call failed for good)
};

/// Everything that happened on one task so far.
struct TaskHistory {
  PastAttempt baseline;
  std::vector<Chain> chains; ///< grows as chains get their first attempt

  const Chain* find(std::size_t chain) const {
    return chain < chains.size() ? &chains[chain] : nullptr;
  }
  /// Made if it is not there. The reference holds until the next call.
  Chain& open(std::size_t chain) {
    chains.resize(std::max(chains.size(), chain + 1));
    return chains[chain];
  }
};

/// A call that may be made now. Indices are into the attempts of its own chain.
struct Proposal {
  std::size_t chain = 0;
  std::size_t step = 0;
  std::optional<std::size_t> best;     ///< fastest correct attempt so far
  std::optional<std::size_t> previous; ///< the latest attempt, when it is worth showing in full
  std::optional<std::size_t> parent;   ///< what the proposal builds on; none: the baseline
};

/// "TASK/CHAIN/STEP": names the call within its run, in the store and in recordings.
std::string call_key(std::string_view task, const Proposal& proposal);

/// Decides what to ask next. Pure and deterministic: a chain's proposals follow from the chain's
/// own attempts alone, so a resumed run asks the same questions whatever order answers came in.
class Strategy {
public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  /// Every proposal that could be in flight now, also those that already are.
  virtual std::vector<Proposal> next(const TaskHistory& history) const = 0;
};

struct StrategySettings {
  std::size_t proposals = 6; ///< per task
  std::size_t chains = 1;    ///< one-plus-one: shares the proposals among this many chains
};

const std::vector<std::string>& strategy_names();
/// Throws UsageError (with the nearest match) for an unknown name.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategySettings& settings);

} // namespace winnow::harness
