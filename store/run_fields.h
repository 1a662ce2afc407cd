// The fields of runs and of their counts, each named once. For .cpp files.
#pragma once

#include "store/fields.h"
#include "store/run_store.h"

namespace winnow::store {

WINNOW_JSON_FIELDS(RunRow, id, name, status, config, started_at, finished_at)
WINNOW_JSON_FIELDS(RunCosts, calls, calls_from_record, prompt_tokens, completion_tokens, dollars,
                   calls_without_price, unconfirmed_sendings, unconfirmed_tokens,
                   unconfirmed_dollars)
WINNOW_JSON_FIELDS(VerdictCount, run, task, device, verdict, candidates)

} // namespace winnow::store
