#include "tasks/plan/placeholders.h"

#include "base/text.h"

namespace winnow::tasks {

std::string
replace_placeholders(std::string_view text,
                     const std::function<std::optional<std::string>(std::string_view)>& replace) {
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) {
      break;
    }
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const bool innermost = close != std::string_view::npos && text.find('{', 1) > close;
    const auto replacement =
        innermost ? replace(trim(text.substr(1, close - 1))) : std::optional<std::string>();
    result += replacement ? *replacement : "{";
    text.remove_prefix(replacement ? close + 1 : 1);
  }
  return result;
}

} // namespace winnow::tasks
