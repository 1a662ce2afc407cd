#pragma once

#include "harness/run/strategy.h"

namespace winnow::harness {

/// Chains in which each prompt is written after the last result of its chain is known. A proposal
/// builds on the fastest correct attempt of the chain, unless the latest attempt failed in a way
/// that is worth a repair. A latest attempt that is correct but much slower than the best one is
/// not shown in full: in published logs such parents led to gains half as often as other parents.
class OnePlusOne : public Strategy {
public:
  OnePlusOne(std::size_t proposals, std::size_t chains) : proposals_(proposals), chains_(chains) {}
  std::string_view name() const override { return "one-plus-one"; }
  std::vector<Proposal> next(const TaskHistory& history) const override;

private:
  std::size_t steps(std::size_t chain) const;

  std::size_t proposals_;
  std::size_t chains_;
};

} // namespace winnow::harness
