#pragma once

#include "harness/report/text_table.h"
#include "store/board_facts.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// The output format of a leaderboard.
enum class Format : std::uint8_t { Table, Json, Csv, Markdown };

/// Table: aligned columns for a terminal of width `columns`; 0: no limit. Json: schema
/// "winnow.leaderboard", version 2. Csv: RFC 4180, rows only. The rows of a group are followed by
/// its `facts`.
std::string format_leaderboard(const std::vector<store::LeaderboardRow>& rows, Format format,
                               const store::BoardFacts& facts = {},
                               std::size_t columns = table_columns());

/// Exports the candidates of a run. Json: store::export_document(). Csv: one row per candidate.
/// Markdown: for reading; contains only the kernel files of the leaderboard.
std::string export_run(const store::RunStore& store, const store::LeaderboardQuery& query,
                       Format format);

} // namespace winnow::harness
