#pragma once

#include "store/text_table.h"

#include <string>
#include <vector>

namespace winnow::store {

constexpr std::size_t kBetweenColumns = 2;

/// A table that has as much room as it gets.
struct Layout {
  TextTable table;
  std::vector<std::size_t> widths;
  std::vector<std::string> left_out; ///< headings
};

/// What to_aligned_text() says about tables that are too wide, but for splitting. Where nothing
/// helps, the table stays wider than `room`.
Layout lay_out(TextTable table, std::size_t room);

/// The table itself where it fits, or must not be split.
std::vector<TextTable> split_table(const TextTable& table, std::size_t room);

} // namespace winnow::store
