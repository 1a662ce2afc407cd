#include "tasks/reference/python_outline.h"

#include "base/text.h"

#include <algorithm>

namespace winnow::tasks {
namespace {

/// Of the string literal that begins at `at`, which is a quote.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const std::string_view quote =
      text.substr(at, text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1);
  for (std::size_t i = at + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i, quote.size()) == quote) {
      return i + quote.size();
    }
  }
  return text.size();
}

constexpr char kLineInside = '\v'; // stands for the end of a line inside a string

/// The text with strings as dots and comments as spaces; all lines stay where they are. A string of
/// several lines ends no statement.
std::string without_texts(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '#') {
      end = std::min(text.find('\n', i), text.size());
    } else if (text[i] == '"' || text[i] == '\'') {
      end = end_of_literal(text, i);
    } else {
      i = end;
      continue;
    }
    const char blank = text[i] == '#' ? ' ' : '.';
    std::transform(code.begin() + static_cast<std::ptrdiff_t>(i),
                   code.begin() + static_cast<std::ptrdiff_t>(end),
                   code.begin() + static_cast<std::ptrdiff_t>(i),
                   [blank](char c) { return c == '\n' ? kLineInside : blank; });
    i = end;
  }
  return code;
}

/// By how much a character changes the depth of brackets.
int bracket_step(char c) {
  return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/// The place of the bracket that closes the one at `open`; the end of the text: none does.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += bracket_step(text[i]);
    if (depth == 0) {
      return i;
    }
  }
  return text.size();
}

/// A statement: a line, and those that its brackets or a backslash join to it.
struct Statement {
  int line = 0;
  std::size_t indent = 0;
  std::string_view text;
};

std::vector<Statement> statements_of(std::string_view code) {
  std::vector<Statement> statements;
  int line = 1, first_line = 1, depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= code.size(); ++i) {
    const char c = i < code.size() ? code[i] : '\n';
    depth += bracket_step(c);
    line += c == '\n' || c == kLineInside ? 1 : 0;
    if (c != '\n') {
      continue;
    }
    if (i < code.size() && (depth > 0 || (i > begin && code[i - 1] == '\\'))) {
      continue;
    }
    const std::string_view whole = code.substr(begin, i - begin);
    if (const std::size_t indent = whole.find_first_not_of(" \t\r");
        indent != std::string_view::npos) {
      statements.push_back({first_line, indent, trim(whole)});
    }
    begin = i + 1;
    first_line = line;
    depth = 0;
  }
  return statements;
}

/// The parts between commas outside of brackets. An empty last part does not count.
std::vector<std::string_view> listed(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += bracket_step(c);
    if (c == ',' && (depth == 0 || i == text.size())) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (parts.back().empty()) {
    parts.pop_back();
  }
  return parts;
}

/// Whether the bracket at the front closes at the end.
bool is_enclosed(std::string_view text) {
  return (text.starts_with('(') || text.starts_with('[')) &&
         closing_bracket(text, 0) + 1 == text.size();
}

std::optional<std::size_t> count_of(std::string_view value) {
  bool is_list = false;
  if (is_enclosed(value)) {
    const std::string_view inside = trim(value.substr(1, value.size() - 2));
    is_list = value.front() == '[' || inside.find(',') != std::string_view::npos;
    value = is_list ? inside : value;
  }
  const std::vector<std::string_view> parts = listed(value);
  const bool is_open = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.starts_with('*') || part.find(" for ") != std::string_view::npos;
  });
  return is_open || (!is_list && parts.size() < 2) ? std::nullopt : std::optional(parts.size());
}

void read_parameters(std::string_view definition, bool is_method, PythonFunction& function) {
  const std::size_t open = definition.find('(');
  const std::size_t close = closing_bracket(definition, open);
  std::vector<std::string_view> parts = listed(definition.substr(open + 1, close - open - 1));
  if (is_method && !parts.empty()) {
    parts.erase(parts.begin()); // self
  }
  for (const std::string_view part : parts) {
    if (part == "/" || part.starts_with("**")) {
      continue;
    }
    if (part.starts_with('*')) {
      function.takes_any = part.size() > 1;
      return; // only keywords follow
    }
    function.parameters.emplace_back(trim(part.substr(0, part.find_first_of(":="))));
    function.required += part.find('=') == std::string_view::npos ? 1 : 0;
  }
}

bool is_return(std::string_view text) {
  return text.starts_with("return") &&
         (text.size() == 6 || std::string_view(" (\t[").find(text[6]) != std::string_view::npos);
}

} // namespace

std::optional<PythonFunction> find_python_function(std::string_view text, std::string_view type,
                                                   std::string_view name) {
  const std::string code = without_texts(text);
  const std::vector<Statement> statements = statements_of(code);
  bool inside = type.empty();
  const auto starts = [](const Statement& one, const std::string& words) {
    return one.text.starts_with(words) && one.text.size() > words.size() &&
           std::string_view(" (:").find(one.text[words.size()]) != std::string_view::npos;
  };
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Statement& one = statements[i];
    if (!type.empty() && one.indent == 0) {
      inside = starts(one, "class " + std::string(type));
    }
    const bool is_level = type.empty() ? one.indent == 0 : one.indent > 0;
    if (!inside || !is_level || !starts(one, "def " + std::string(name)) ||
        one.text.find('(') == std::string_view::npos) {
      continue;
    }
    PythonFunction function;
    function.line = one.line;
    read_parameters(one.text, !type.empty(), function);
    for (std::size_t k = i + 1; k < statements.size() && statements[k].indent > one.indent; ++k) {
      if (statements[k].indent == statements[i + 1].indent && is_return(statements[k].text)) {
        function.return_line = statements[k].line;
        function.returned = count_of(trim(statements[k].text.substr(6)));
      }
    }
    return function;
  }
  return std::nullopt;
}

} // namespace winnow::tasks
