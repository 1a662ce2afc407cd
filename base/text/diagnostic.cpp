#include "base/text/diagnostic.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow {

bool all_unsupported(const std::vector<Diagnostic>& diagnostics) {
  return !diagnostics.empty() &&
         std::all_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return diagnostic.unsupported; });
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.at.line > 0) {
    text += fmt::format("{}{}", text.empty() ? "line " : ":", diagnostic.at.line);
    if (diagnostic.at.column > 0) {
      text += fmt::format(":{}", diagnostic.at.column);
    }
  }
  text += text.empty() ? "" : ": ";
  text += diagnostic.what;
  if (!diagnostic.expected.empty()) {
    text += "; expected " + diagnostic.expected;
  }
  return text;
}

} // namespace winnow
