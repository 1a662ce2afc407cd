#include "harness/report/text_table.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace winnow::harness {
namespace {

/// Whether a spreadsheet would compute the cell, such as =cmd(). A number is none.
bool looks_like_formula(const std::string& text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) {
    return false;
  }
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() + text.size();
}

/// Valid UTF-8 without control characters. Line ends stay as they are.
std::string clean_cell(std::string_view text) {
  std::string clean = looks_like_formula(std::string(text)) ? "'" : "";
  for (std::size_t end = 0; (end = text.find('\r')) != std::string_view::npos;) {
    clean += to_valid_utf8(text.substr(0, end)) + '\r';
    text.remove_prefix(end + 1);
  }
  return clean + to_valid_utf8(text);
}

std::string csv_field(const std::string& cell) {
  std::string text = clean_cell(cell);
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += '"';
    }
  }
  return quoted + '"';
}

/// Whether a reader of Markdown would take a part of the text for markup, a link or a mention.
bool has_markup(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view kLinks[] = {"://", "www.", "mailto:", "xmpp:"};
  return text.find_first_of("<>[]`*~\\|&@#") != std::string_view::npos ||
         std::any_of(std::begin(kLinks), std::end(kLinks),
                     [&](std::string_view link) { return lower.find(link) != std::string::npos; });
}

std::vector<std::string> headings(const TextTable& table) {
  std::vector<std::string> texts;
  for (const TextTable::Column& column : table.columns) {
    texts.push_back(column.heading);
  }
  return texts;
}

std::size_t columns_of_stdout = 0;

std::string cut_short(std::string text, std::size_t columns) {
  if (display_width(text) <= columns) {
    return text;
  }
  std::size_t end = 0; // end of the code points to keep
  for (std::size_t shown = 0; shown + 1 < columns; ++shown) {
    do {
      ++end;
    } while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U);
  }
  return text.substr(0, end) + "\u2026";
}

std::string aligned_row(const Layout& layout, const std::vector<std::string>& cells,
                        std::size_t indent) {
  std::vector<std::vector<std::string>> broken;
  std::size_t height = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    broken.push_back(wrap_words(cells[i], layout.widths[i]));
    height = std::max(height, broken.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string padded(indent, ' ');
    for (std::size_t i = 0; i < broken.size(); ++i) {
      const std::string cell =
          line < broken[i].size() ? cut_short(broken[i][line], layout.widths[i]) : "";
      const std::string padding(layout.widths[i] - display_width(cell), ' ');
      padded += i == 0 ? "" : std::string(kBetweenColumns, ' ');
      padded += layout.table.columns[i].right_aligned ? padding + cell : cell + padding;
    }
    padded.erase(padded.find_last_not_of(' ') + 1);
    text += padded + '\n';
  }
  return text;
}

std::string aligned_part(const Layout& layout, std::size_t indent) {
  std::string text = aligned_row(layout, headings(layout.table), indent);
  for (const auto& row : layout.table.rows) {
    text += aligned_row(layout, row, indent);
  }
  if (!layout.left_out.empty()) {
    text += std::string(indent, ' ') + "no room for: " + join(layout.left_out, ", ") + "\n";
  }
  return text;
}

} // namespace

std::string on_one_line(std::string_view text) {
  std::string clean = visible(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return clean;
}

std::string markdown_text(std::string_view text) {
  std::string line = on_one_line(text);
  if (!has_markup(line)) {
    return line;
  }
  std::size_t ticks = 1;
  while (line.find(std::string(ticks, '`')) != std::string::npos) {
    ++ticks;
  }
  for (std::size_t bar = 0; (bar = line.find('|', bar)) != std::string::npos; bar += 2) {
    if (bar > 0 && line[bar - 1] == '\\') {
      line.insert(bar++, 1, ' '); // otherwise this backslash would escape the next one
    }
    line.insert(bar, 1, '\\'); // tables see bars in code spans, too
  }
  const std::string fence(ticks, '`');
  const bool touches = line.starts_with('`') || line.ends_with('`');
  return touches ? fence + " " + line + " " + fence : fence + line + fence;
}

void set_table_columns(std::size_t columns) {
  columns_of_stdout = columns;
}

std::size_t table_columns() {
  return columns_of_stdout;
}

std::string to_aligned_text(const TextTable& table, std::size_t indent, std::size_t columns) {
  TextTable clean = table;
  for (auto& row : clean.rows) {
    std::transform(row.begin(), row.end(), row.begin(), on_one_line);
  }
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  const std::size_t room = columns > indent ? columns - indent : kNoLimit;
  std::string text;
  for (const TextTable& part : split_table(clean, room)) {
    text += text.empty() ? "" : "\n";
    text += aligned_part(lay_out(part, room), indent);
  }
  return text;
}

std::string to_csv(const TextTable& table) {
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += (i == 0 ? "" : ",") + csv_field(cells[i]);
    }
    text += "\r\n";
  };
  append(headings(table));
  std::for_each(table.rows.begin(), table.rows.end(), append);
  return text;
}

std::string to_markdown(const TextTable& table) {
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    text += '|';
    for (const std::string& cell : cells) {
      text += ' ' + markdown_text(cell) + " |";
    }
    text += '\n';
  };
  append(headings(table));
  text += '|';
  for (const TextTable::Column& column : table.columns) {
    text += column.right_aligned ? "---:|" : "---|";
  }
  text += '\n';
  std::for_each(table.rows.begin(), table.rows.end(), append);
  return text;
}

} // namespace winnow::harness
