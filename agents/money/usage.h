#pragma once

#include "tasks/result/model_answer.h"

#include <cstdint>

namespace winnow::agents {

using tasks::Usage;

/// What requests cost that the endpoint did not count: they broke off, timed out, were cancelled or
/// were answered without counts. Computed from the prompt and from the bytes that arrived.
struct EstimatedCost {
  std::int64_t requests = 0;
  std::int64_t tokens = 0;
  double dollars = 0; ///< 0 if the price is unknown
};

} // namespace winnow::agents
