#pragma once

#include "harness/run/strategy.h"

namespace winnow::harness {

/// Asks for all proposals at once. Each one is a chain of one step that starts from the baseline.
class BestOfN : public Strategy {
public:
  explicit BestOfN(std::size_t proposals) : proposals_(proposals) {}
  std::string_view name() const override { return "best-of-n"; }
  std::vector<Proposal> next(const TaskHistory& history) const override;

private:
  std::size_t proposals_;
};

} // namespace winnow::harness
