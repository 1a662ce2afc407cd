#pragma once

#include "harness/report/text_table.h"
#include "store/board_facts.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

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

/// A heading, a table and an explanation of the columns for each group of rows. `board`: an object
/// with the members "rows", "baselines", "gpu_spreads", "summaries" and "not_ranked" of a
/// leaderboard's document. `format` is
/// Table or Markdown. `columns` is the width of the terminal; 0: no limit.
std::string board_text(const nlohmann::json& board, Format format, std::size_t columns);

/// The document of an export for reading: shortened digests, two decimals.
std::string export_markdown(const nlohmann::json& document);

} // namespace winnow::harness
