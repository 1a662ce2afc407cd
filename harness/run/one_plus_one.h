#pragma once

#include "harness/run/strategy.h"

namespace winnow::harness {

/// Each chain is strictly sequential: the next prompt is written when the last result is in. It
/// builds on the fastest correct attempt of the chain, unless the latest failed in a way that is
/// worth repairing. A latest attempt that is correct but much slower than the best is not shown in
/// full: in published logs such parents led to gains half as often as others did.
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
