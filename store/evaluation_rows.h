#pragma once

#include "store/run_store.h"

#include <map>
#include <vector>

namespace winnow::store {

class Database;

/// Writes one evaluation with its variant, build, cases and samples. Inside write().
void insert_evaluation(Database& database, RowId candidate, std::int64_t ordinal,
                       const tasks::Evaluation& evaluation);

/// The evaluations of a run that count, by candidate. Inside read().
std::map<RowId, tasks::Evaluation> counting_evaluations(const Database& database, RowId run);

} // namespace winnow::store
