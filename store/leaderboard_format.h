#pragma once

#include "store/board_facts.h"
#include "store/run_store.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// Whether two rows are on one board: comparable, or one of them without a rank.
bool same_group(const LeaderboardRow& a, const LeaderboardRow& b);

/// The document of a leaderboard, schema "winnow.leaderboard", version 2.
nlohmann::json leaderboard_json(const std::vector<LeaderboardRow>& rows, const BoardFacts& facts);

/// The names of the members of a row, in the order of CSV.
std::vector<std::string> leaderboard_columns();

} // namespace winnow::store
