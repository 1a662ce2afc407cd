#pragma once

#include "tasks/result/sitting.h"

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::store {

/// A sitting as stored.
struct StoredSitting {
  std::int64_t id = 0;
  std::optional<std::int64_t> run; ///< whose board it was made for; nullopt: that over all runs
  std::string task;
  tasks::SittingResult result;
};

} // namespace winnow::store
