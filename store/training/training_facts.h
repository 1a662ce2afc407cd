#pragma once

#include "store/database.h"
#include "store/training/training_selection.h"

#include <vector>

namespace winnow::store {

/// The facts about all replies of models that the query asks for, by number of candidate.
std::vector<TrainingFacts> read_training_facts(const Database& database,
                                               const LeaderboardQuery& query);

/// The newest race of each two kernels, if it was decided.
std::vector<DecidedRace> read_decided_races(const Database& database);

} // namespace winnow::store
