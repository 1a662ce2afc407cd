#include "agents/prompts/text_template.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";

/// The first placeholder at or after `from`. begin is npos if there is none.
struct Placeholder {
  std::size_t begin = std::string_view::npos;
  std::size_t end = std::string_view::npos;
  std::string name;
};

Placeholder next_placeholder(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != std::string_view::npos;
       at = text.find("{{", at + 1)) {
    const std::size_t end = std::min(text.find_first_not_of(kNameCharacters, at + 2), text.size());
    if (end > at + 2 && text.substr(end, 2) == "}}") {
      return {at, end + 2, std::string(text.substr(at + 2, end - at - 2))};
    }
  }
  return {};
}

} // namespace

TextTemplate::TextTemplate(std::string text, const std::string& file,
                           const std::vector<std::string>& names)
    : text_(std::move(text)) {
  for (Placeholder found = next_placeholder(text_, 0); found.begin != std::string_view::npos;
       found = next_placeholder(text_, found.end)) {
    if (std::find(names.begin(), names.end(), found.name) == names.end()) {
      const auto begin = text_.begin();
      const auto line =
          1 + std::count(begin, begin + static_cast<std::ptrdiff_t>(found.begin), '\n');
      throw UsageError(fmt::format("{}:{}: unknown placeholder {{{{{}}}}}{}", file, line,
                                   found.name, suggestion(found.name, names)),
                       "correct the template, or remove it to use the built-in one");
    }
  }
}

std::string TextTemplate::fill(const std::map<std::string, std::string>& values) const {
  std::string filled;
  std::size_t done = 0;
  for (Placeholder found = next_placeholder(text_, 0); found.begin != std::string_view::npos;
       found = next_placeholder(text_, done)) {
    filled.append(text_, done, found.begin - done);
    const std::string& value = values.at(found.name);
    filled.append(value, 0, value.find_last_not_of('\n') + 1);
    done = found.end;
  }
  return filled.append(text_, done);
}

} // namespace winnow::agents
