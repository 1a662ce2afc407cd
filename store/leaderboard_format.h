#pragma once

#include "store/run_store.h"
#include "store/text_table.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// Whether the two are on one board: ranked together, or one of them not ranked.
bool same_group(const LeaderboardRow& a, const LeaderboardRow& b);

/// One row as the JSON outputs show it.
nlohmann::json leaderboard_row_json(const LeaderboardRow& row);

nlohmann::json baseline_standing_json(const BaselineStanding& standing);

/// {"BLOCK":128,"VEC":4} as "BLOCK=128 VEC=4".
std::string parameters_text(const std::string& parameters_json);

/// These members of each document, one row for each.
TextTable csv_table(const std::vector<nlohmann::json>& documents,
                    const std::vector<const char*>& names);

} // namespace winnow::store
