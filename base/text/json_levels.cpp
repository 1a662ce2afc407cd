#include "base/text/json_levels.h"

#include <algorithm>

namespace winnow {

bool has_too_many_levels(std::string_view json) {
  int levels = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      i = json_string_end(json, i);
    } else if (c == '[' || c == '{') {
      if (++levels > kMostJsonLevels) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --levels;
    }
  }
  return false;
}

std::size_t json_string_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::min(at, text.size());
}

} // namespace winnow
