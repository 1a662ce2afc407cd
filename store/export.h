#pragma once

#include "store/run_store.h"
#include "store/text_table.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// How a leaderboard is written out.
enum class Format : std::uint8_t { Table, Json, Csv, Markdown };

/// Table: aligned columns for a terminal that has `columns`, 0: no limit. Json: schema
/// "winnow.leaderboard", version 2. Csv: RFC 4180, rows only. `baselines` are shown with the rows
/// of their group.
std::string format_leaderboard(const std::vector<LeaderboardRow>& rows, Format format,
                               const std::vector<BaselineStanding>& baselines = {},
                               std::size_t columns = table_columns());

/// Everything about a run's candidates that may leave the machine: leaderboard, verdict counts,
/// every candidate with its verdict, detail, cases (hidden ones by verdict only) and kernel file.
/// No prompts, no replies, no keys. Json: schema "winnow.export", version 2. Markdown: made for
/// reading, with the kernel files of the leaderboard only.
std::string export_run(const RunStore& store, const LeaderboardQuery& query, Format format);

} // namespace winnow::store
