#pragma once

#include "store/board_facts.h"
#include "store/text_table.h"

#include <string>
#include <vector>

namespace winnow::store {

/// The output format of a leaderboard.
enum class Format : std::uint8_t { Table, Json, Csv, Markdown };

/// Table: aligned columns for a terminal of width `columns`; 0: no limit. Json: schema
/// "winnow.leaderboard", version 2. Csv: RFC 4180, rows only. The rows of a group are followed by
/// its `facts`.
std::string format_leaderboard(const std::vector<LeaderboardRow>& rows, Format format,
                               const BoardFacts& facts = {}, std::size_t columns = table_columns());

/// Exports the candidates of a run. Json: export_document(). Csv: one row per candidate. Markdown:
/// for reading; contains only the kernel files of the leaderboard.
std::string export_run(const RunStore& store, const LeaderboardQuery& query, Format format);

} // namespace winnow::store
