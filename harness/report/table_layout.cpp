#include "base/text.h"
#include "harness/report/text_table.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace winnow::harness {
namespace {

constexpr std::size_t kLeastWord = 6; // a word is not cut shorter than this

/// The steps that make a table narrower. Each step includes the earlier ones.
enum class Narrowing : std::uint8_t { None, BreakHeadings, BreakCells, CutWords, CutHeadings };

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string& word : wrap_words(text, 1)) {
    longest = std::max(longest, display_width(word));
  }
  return longest;
}

std::size_t least_width(const TextTable& table, std::size_t column, Narrowing narrowing) {
  const std::string& heading = table.columns[column].heading;
  const bool breaks = narrowing >= Narrowing::BreakCells && !table.columns[column].right_aligned;
  std::size_t cells = 0;
  for (const auto& row : table.rows) {
    cells = std::max(cells, breaks ? longest_word(row[column]) : display_width(row[column]));
  }
  std::size_t title = narrowing == Narrowing::None ? display_width(heading) : longest_word(heading);
  if (breaks && narrowing >= Narrowing::CutWords) {
    cells = std::min(cells, kLeastWord);
  }
  if (narrowing == Narrowing::CutHeadings) {
    title = std::min(title, kLeastWord);
  }
  return std::max(cells, title);
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kBetweenColumns * (widths.size() - 1));
}

/// The width that a column needs if its texts are broken at spaces to fit into `width`.
std::size_t used_width(const TextTable& table, std::size_t column, std::size_t width) {
  std::size_t used = 0;
  const auto add = [&](const std::string& text) {
    for (const std::string& line : wrap_words(text, width)) {
      used = std::max(used, std::min(width, display_width(line)));
    }
  };
  add(table.columns[column].heading);
  for (const auto& row : table.rows) {
    add(row[column]);
  }
  return used;
}

/// The full widths if there is room, else widths reduced by `narrowing`. The result may still be
/// too wide.
std::vector<std::size_t> column_widths(const TextTable& table, Narrowing narrowing,
                                       std::size_t room) {
  std::vector<std::size_t> widths, spare;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(least_width(table, i, Narrowing::None));
    spare.push_back(widths[i] - least_width(table, i, narrowing));
  }
  for (std::size_t total = total_width(widths); total > room; --total) {
    const auto widest = std::max_element(spare.begin(), spare.end());
    if (*widest == 0) {
      break;
    }
    --*widest;
    --widths[static_cast<std::size_t>(widest - spare.begin())];
  }
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = used_width(table, i, widths[i]);
  }
  return widths;
}

void remove_column(TextTable& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) {
    row.erase(row.begin() + at);
  }
}

/// Removes the last column with `may_go`. Returns its heading, or an empty string if there is none.
std::string remove_a_column(TextTable& table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (table.columns[i].may_go) {
      std::string heading = table.columns[i].heading;
      remove_column(table, i);
      return heading;
    }
  }
  return {};
}

void append_column(TextTable& table, const TextTable& from, std::size_t column) {
  table.columns.push_back(from.columns[column]);
  table.rows.resize(from.rows.size());
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    table.rows[i].push_back(from.rows[i][column]);
  }
}

} // namespace

void remove_empty_columns(TextTable& table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (std::all_of(table.rows.begin(), table.rows.end(),
                    [&](const auto& row) { return row[i].empty(); })) {
      remove_column(table, i);
    }
  }
}

Layout lay_out(TextTable table, std::size_t room) {
  Layout layout{std::move(table), {}, {}};
  const auto fits = [&](Narrowing narrowing) {
    layout.widths = column_widths(layout.table, narrowing, room);
    return total_width(layout.widths) <= room;
  };
  while (!fits(Narrowing::BreakHeadings)) {
    std::string heading = remove_a_column(layout.table);
    if (heading.empty()) {
      fits(Narrowing::BreakCells) || fits(Narrowing::CutWords) || fits(Narrowing::CutHeadings);
      break;
    }
    layout.left_out.insert(layout.left_out.begin(), std::move(heading));
  }
  return layout;
}

std::vector<TextTable> split_table(const TextTable& table, std::size_t room) {
  constexpr std::size_t kFewestColumns = 2;
  std::vector<TextTable> parts;
  if (!table.splits || table.columns.size() <= kFewestColumns) {
    return {table};
  }
  for (std::size_t column = 1; column < table.columns.size(); ++column) {
    if (!parts.empty()) {
      TextTable longer = parts.back();
      append_column(longer, table, column);
      if (total_width(column_widths(longer, Narrowing::BreakHeadings, room)) <= room) {
        parts.back() = std::move(longer);
        continue;
      }
    }
    append_column(parts.emplace_back(), table, 0);
    append_column(parts.back(), table, column);
  }
  return parts;
}

} // namespace winnow::harness
