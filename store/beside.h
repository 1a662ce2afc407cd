// What a board shows beside a kernel's time: what its reader would use otherwise, and the limit.
#pragma once

#include "store/database.h"
#include "store/run_store.h"

#include <span>
#include <string>

namespace winnow::store {

/// Sets best_alternative, versus_best and its bounds in the rows of one board.
void put_alternative(const Database& database, std::span<LeaderboardRow> group);

/// The least share of the speed of light at a search shape, from the stored profile.
struct Light {
  double fraction = 0; ///< 0: not known
  std::string bound;   ///< what bounds the kernel there, or why the share is not known
};
Light light_of(const Database& database, RowId evaluation);

} // namespace winnow::store
