#include "tasks/host_program/python_text.h"

#include "base/text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {

std::string python_quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : to_valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      literal += std::string("\\") + c;
    } else if (c >= 0 && (c < ' ' || c == '\x7f')) {
      literal += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      literal += c;
    }
  }
  return literal + "\"";
}

std::string python_literal(const std::string& text) {
  const std::string valid = to_valid_utf8(text);
  const bool is_plain = std::none_of(valid.begin(), valid.end(), [](char c) {
    return c >= 0 && (c < ' ' || c == '\x7f') && c != '\n' && c != '\t';
  });
  if (is_plain && valid.find("'''") == std::string::npos && valid.ends_with('\n')) {
    return "r'''\n" + valid + "'''\n";
  }
  std::string lines = "(\n";
  for (const std::string_view line : split_lines(valid)) {
    lines += "    " + python_quoted(std::string(line) + "\n") + "\n";
  }
  return lines + "    \"\"\n)\n";
}

std::string python_name(const std::string& name) {
  static const std::set<std::string> kTaken{
      "False",     "None",        "True",        "and",       "as",   "assert",  "async",  "await",
      "break",     "class",       "continue",    "def",       "del",  "elif",    "else",   "except",
      "finally",   "for",         "from",        "global",    "if",   "import",  "in",     "is",
      "lambda",    "nonlocal",    "not",         "or",        "pass", "raise",   "return", "try",
      "while",     "with",        "yield",       "torch",     "main", "inspect", "copy",   "print",
      "functools", "load_inline", "collections", "statistics"};
  std::string valid = name;
  std::replace_if(
      valid.begin(), valid.end(), [](char c) { return !is_identifier(std::string("_") + c); }, '_');
  if (!is_identifier(valid) && is_identifier("_" + valid)) {
    return "task_" + valid; // a name that begins with a digit, or an empty one
  }
  return kTaken.contains(valid) ? valid + "_" : valid;
}

std::string python_tuple(const std::vector<std::string>& values) {
  return "(" + join(values, ", ") + (values.size() == 1 ? ",)" : ")");
}

} // namespace winnow::tasks
