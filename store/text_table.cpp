#include "store/text_table.h"

#include "base/text.h"

#include <algorithm>

namespace winnow::store {
namespace {

std::size_t width(std::string_view text) {
  const auto starts_code_point = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string csv_field(const std::string& text) {
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

std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : on_one_line(text)) {
    switch (c) {
    case '|':
      escaped += "\\|";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    default:
      escaped += c;
    }
  }
  return escaped;
}

std::vector<std::string> headings(const TextTable& table) {
  std::vector<std::string> texts;
  for (const TextTable::Column& column : table.columns) {
    texts.push_back(column.heading);
  }
  return texts;
}

} // namespace

std::string on_one_line(std::string_view text) {
  std::string clean = to_valid_utf8(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return clean;
}

std::string to_aligned_text(const TextTable& table, std::size_t indent) {
  std::vector<std::vector<std::string>> lines{headings(table)};
  for (const auto& row : table.rows) {
    std::transform(row.begin(), row.end(), std::back_inserter(lines.emplace_back()), on_one_line);
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width(line[i]));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string padded(indent, ' ');
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - width(line[i]), ' ');
      padded += i == 0 ? "" : "  ";
      padded += table.columns[i].right_aligned ? padding + line[i] : line[i] + padding;
    }
    padded.erase(padded.find_last_not_of(' ') + 1);
    text += padded + '\n';
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
      text += ' ' + markdown_cell(cell) + " |";
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

} // namespace winnow::store
