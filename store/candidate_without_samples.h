#pragma once

#include "store/run_store.h"

namespace winnow::store {

/// As RunStore::candidate_state(), but without raw samples, which take most of the time to read.
CandidateState candidate_without_samples(const RunStore& store, RowId id);

} // namespace winnow::store
