#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

class Database;

/// "WNOW": marks the file as a Winnow store (`file` and SQLite's own tools show it).
constexpr std::int64_t kApplicationId = 0x574E4F57;

/// One numbered step of the schema; the store's version is that of the last one applied.
struct Migration {
  std::int64_t version = 0;
  std::string_view sql;
};

/// The numbered files of store/schema, in order.
const std::vector<Migration>& migrations();

/// Applies the migrations that the store lacks and makes all views and triggers anew, in one
/// transaction. Safe when two processes do it at once.
void apply_migrations(Database& database, const std::vector<Migration>& steps);

/// Fills the lookup tables with the verdicts and stages that this program knows.
void update_lookup_tables(Database& database);

std::int64_t schema_version(const Database& database);

} // namespace winnow::store
