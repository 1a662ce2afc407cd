#pragma once

#include "store/export.h"
#include "store/run_store.h"

#include <string>
#include <vector>

namespace winnow::store {

/// A heading and a table for each group, and what its columns mean. `format` is Table or Markdown;
/// `columns` are those of the terminal, 0: no limit.
std::string board_text(const std::vector<LeaderboardRow>& rows,
                       const std::vector<BaselineStanding>& baselines, Format format,
                       std::size_t columns);

} // namespace winnow::store
