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
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Columns padded to their widest cell (in code points), two spaces between them, each line
/// indented by `indent`. Control characters and invalid UTF-8 do not reach the terminal.
std::string to_aligned_text(const TextTable& table, std::size_t indent);

/// Line ends and tabs become spaces, other control characters and invalid UTF-8 are replaced.
std::string on_one_line(std::string_view text);

/// RFC 4180: CRLF line ends, quotes where needed, one heading line.
std::string to_csv(const TextTable& table);

/// A GitHub table; pipes, line ends and angle brackets in cells are escaped.
std::string to_markdown(const TextTable& table);

} // namespace winnow::store
