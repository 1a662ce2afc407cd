#pragma once

#include "tasks/result/sitting.h"

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::store {

struct StoredSitting {
  std::int64_t id = 0;
  std::optional<std::int64_t> run; ///< the run whose board it orders; nullopt: no run
  std::string task;
  tasks::SittingResult result;
};

} // namespace winnow::store
