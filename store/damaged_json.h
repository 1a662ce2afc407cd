#pragma once

#include <optional>
#include <string>

namespace SQLite {
class Database;
} // namespace SQLite

namespace winnow::store {

struct DamagedJson {
  std::string table, column;
  std::string row; ///< its key: "7", or "run_id 1, seq 3"
};

/// The first value that is not JSON in a column that the schema declares as JSON. Reads the whole
/// store: for messages, after JSON could not be read.
std::optional<DamagedJson> find_damaged_json(const SQLite::Database& database);

} // namespace winnow::store
