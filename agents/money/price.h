#pragma once

#include "agents/model_request.h"

#include <optional>
#include <string>

namespace winnow::agents {

/// US dollars per million tokens. What is absent costs as much as plain input.
struct Price {
  double input = 0;
  double output = 0; ///< reasoning included
  std::optional<double> cached_input;
  std::optional<double> cache_write;
  std::string source; ///< "configs/prices.toml, 2026-11-20", "[endpoint]"
};

/// US dollars for one call.
double cost(const Price& price, const Usage& usage);

} // namespace winnow::agents
