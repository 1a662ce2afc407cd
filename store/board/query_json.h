// Rows of queries as JSON. A column is the number or the text that the row holds, and null for NULL
// and for numbers that JSON lacks. Columns that hold JSON in the store are JSON.
#pragma once

#include "store/database.h"

#include <nlohmann/json_fwd.hpp>

namespace winnow::store {

/// {"COLUMN":VALUE,...} of the current row.
nlohmann::json object_json(const Query& query);
/// [VALUE,...] of the current row.
nlohmann::json values_json(const Query& query);
/// [{...},...] of all remaining rows.
nlohmann::json objects_json(Query& query);

} // namespace winnow::store
