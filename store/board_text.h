#pragma once

#include "store/export.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace winnow::store {

/// A heading, a table and an explanation of the columns for each group. `format` is Table or
/// Markdown. `columns` is the width of the terminal; 0: no limit.
std::string board_text(const std::vector<LeaderboardRow>& rows,
                       const std::vector<BaselineStanding>& baselines, Format format,
                       std::size_t columns);

} // namespace winnow::store
