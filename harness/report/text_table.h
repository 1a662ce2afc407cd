#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// Rows of text under headings. Every row has one cell per column.
struct TextTable {
  struct Column {
    std::string heading;
    bool right_aligned = false;
    bool may_go = false; ///< may be removed if there is no room; a line then says so
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  bool splits = false; ///< may be split if there is no room; each part has the first column
};

/// Removes the columns without text in any row.
void remove_empty_columns(TextTable& table);

/// Sets the maximum width of tables on stdout; 0 (the default): no limit. Call only at the start of
/// the program.
void set_table_columns(std::size_t columns);
std::size_t table_columns();

/// Pads columns to their widest cell (in code points), with two spaces between columns and `indent`
/// before each line. Cells are as on_one_line() shows them. `columns` is the maximum line
/// width (0: no limit). A wider table is narrowed in this order: break headings at spaces, split
/// the table if allowed, remove columns with `may_go`, break the cells that are not right-aligned,
/// cut their longest words.
std::string to_aligned_text(const TextTable& table, std::size_t indent,
                            std::size_t columns = table_columns());

/// Line ends and tabs become spaces. Other control characters and hidden ones are shown as
/// visible() does.
std::string on_one_line(std::string_view text);

/// One line of Markdown that shows the text and nothing else: a text that has markup, a link or a
/// mention becomes a code span, in which nothing is a link.
std::string markdown_text(std::string_view text);

/// RFC 4180: CRLF line ends, quotes where needed, one heading line.
std::string to_csv(const TextTable& table);

/// A GitHub table. Cells are as markdown_text() writes them.
std::string to_markdown(const TextTable& table);

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
