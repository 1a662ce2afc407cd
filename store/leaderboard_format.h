#pragma once

#include "store/run_store.h"
#include "store/text_table.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// Whether two rows are on one board: comparable, or one of them without a rank.
bool same_group(const LeaderboardRow& a, const LeaderboardRow& b);

/// One row in the form of the JSON outputs.
nlohmann::json leaderboard_row_json(const LeaderboardRow& row);

nlohmann::json baseline_standing_json(const BaselineStanding& standing);

/// These members of each document, one row for each.
TextTable csv_table(const std::vector<nlohmann::json>& documents,
                    const std::vector<const char*>& names);

} // namespace winnow::store
