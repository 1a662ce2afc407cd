#pragma once

#include "store/board_facts.h"
#include "store/run_store.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// Whether two rows are on one board: comparable, or one of them without a rank.
bool same_group(const LeaderboardRow& a, const LeaderboardRow& b);

/// The document of a leaderboard, schema "winnow.leaderboard", version 2.
nlohmann::json leaderboard_json(const std::vector<LeaderboardRow>& rows, const BoardFacts& facts);

/// CSV with the members `names` of each document: "task device rank".
std::string csv_text(const nlohmann::json& documents, std::string_view names);

} // namespace winnow::store
