#pragma once

#include "store/database.h"
#include "store/run_store.h"

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// For each model, over the tasks at which it has a correct kernel that was timed: the mean of the
/// speedups of its best kernels, as they were measured when each was judged.
nlohmann::json model_means(const Database& database, const LeaderboardQuery& query);

} // namespace winnow::store
