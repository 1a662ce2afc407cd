#pragma once

#include "harness/report/text_table.h"

#include <string>
#include <vector>

namespace winnow::harness {

constexpr std::size_t kBetweenColumns = 2;

/// A table that was fitted into its room.
struct Layout {
  TextTable table;
  std::vector<std::size_t> widths;
  std::vector<std::string> left_out; ///< headings of removed columns
};

/// Fits a table into `room` by the rules of to_aligned_text(), except splitting. If the rules are
/// not enough, the table stays wider than `room`.
Layout lay_out(TextTable table, std::size_t room);

/// Splits a table that is too wide. Returns the table unchanged if it fits or must not be split.
std::vector<TextTable> split_table(const TextTable& table, std::size_t room);

} // namespace winnow::harness
