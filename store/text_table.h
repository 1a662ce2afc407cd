#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::store {

/// Rows of text under headings; every row has as many cells as there are columns.
struct TextTable {
  struct Column {
    std::string heading;
    bool right_aligned = false;
    bool may_go = false; ///< where there is no room, it is left out, and a line says so
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  bool splits = false; ///< where there is no room, into tables that each have the first column
};

/// Those that have nothing in any row.
void remove_empty_columns(TextTable& table);

/// What tables on stdout have room for from now on; 0, as at the start: no limit. For the start of
/// the program only.
void set_table_columns(std::size_t columns);
std::size_t table_columns();

/// Columns padded to their widest cell (in code points), two spaces between them, each line
/// indented by `indent`. Control characters and invalid UTF-8 do not reach the terminal. `columns`
/// are what a line may have at most (0: no limit): a wider table breaks its headings at spaces, is
/// split if it may be, then loses the columns that may go, then breaks the cells that are not
/// right-aligned, then cuts their longest words short.
std::string to_aligned_text(const TextTable& table, std::size_t indent,
                            std::size_t columns = table_columns());

/// Line ends and tabs become spaces, other control characters and invalid UTF-8 are replaced.
std::string on_one_line(std::string_view text);

/// RFC 4180: CRLF line ends, quotes where needed, one heading line.
std::string to_csv(const TextTable& table);

/// A GitHub table; pipes, line ends and angle brackets in cells are escaped.
std::string to_markdown(const TextTable& table);

} // namespace winnow::store
