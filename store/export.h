#pragma once

#include "store/run_store.h"

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// The document of an export, schema "winnow.export", version 2: leaderboard, verdict counts, and
/// every candidate with its verdict, detail, cases and kernel file. A hidden case has only its
/// verdict. Prompts, replies and keys are never exported.
nlohmann::json export_document(const RunStore& store, const LeaderboardQuery& query);

} // namespace winnow::store
