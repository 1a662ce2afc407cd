#pragma once

#include "store/run_store.h"

#include <map>
#include <vector>

namespace winnow::store {

class Database;

/// Times as a JSON array and back; numbers that JSON cannot say are the strings "nan", "inf",
/// "-inf".
std::string encode_samples(const std::vector<double>& samples);
std::vector<double> decode_samples(const std::string& text);

/// Writes one evaluation with its variant, build, cases, samples and profile, which must be JSON;
/// returns its row. Inside write().
RowId insert_evaluation(Database& database, RowId candidate, std::int64_t ordinal,
                        const tasks::Evaluation& evaluation);

/// Writes what the evaluation has measured of its task's library baselines. Inside write().
void insert_library_timings(Database& database, RowId candidate,
                            const tasks::Evaluation& evaluation);

/// The evaluations of a run that count, by candidate. Inside read().
std::map<RowId, tasks::Evaluation> counting_evaluations(const Database& database, RowId run);

} // namespace winnow::store
