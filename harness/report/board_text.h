#pragma once

#include "harness/report/board_report.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// A heading, a table and an explanation of the columns for each group of rows. `board`: an object
/// with the members "rows", "baselines", "gpu_spreads", "summaries" and "not_ranked" of a
/// leaderboard's document. `format` is
/// Table or Markdown. `columns` is the width of the terminal; 0: no limit.
std::string board_text(const nlohmann::json& board, Format format, std::size_t columns);

/// The document of an export for reading: shortened digests, two decimals.
std::string export_markdown(const nlohmann::json& document);

} // namespace winnow::harness
