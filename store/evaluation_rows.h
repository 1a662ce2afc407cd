#pragma once

#include "store/run_store.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

class Database;

/// Writes one evaluation with its variant, build, cases, samples and profile (valid JSON). Returns
/// its row. `request`, `turns`: see RunStore; empty and 0: none. Call inside write().
RowId insert_evaluation(Database& database, RowId candidate, std::int64_t ordinal,
                        const tasks::Evaluation& evaluation, std::string_view request, int turns);

/// Writes all evaluations of a candidate for another one, which has none, except those that a
/// command was asked for. Call inside write().
void copy_evaluations_of(Database& database, RowId from, RowId to);

/// Writes the evaluation's measurements of the task's library baselines. Call inside write().
void insert_library_timings(Database& database, RowId candidate,
                            const tasks::Evaluation& evaluation);

/// The evaluations that count, by candidate. Call inside read().
std::map<RowId, tasks::Evaluation> evaluations_of_run(const Database& database, RowId run);
/// nullopt: the candidate is not judged yet.
std::optional<tasks::Evaluation> evaluation_of_candidate(const Database& database, RowId candidate);
/// Likewise, without raw samples.
std::optional<tasks::Evaluation> evaluation_without_samples(const Database& database,
                                                            RowId candidate);
/// RunStore::evaluations_in_full().
std::vector<tasks::Evaluation> evaluations_in_full(const Database& database, RowId candidate);
/// RunStore::trials().
std::vector<tasks::Evaluation> trials_of_candidate(const Database& database, RowId candidate);

} // namespace winnow::store
