#include "agents/reply/reply_text.h"

namespace winnow::agents {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

PlanComment find_plan(std::string_view text) {
  PlanComment plan;
  std::size_t at = text.find("@winnow");
  while (at != std::string_view::npos) {
    // Goes back over spaces only. Looking from the start of the text would make many of these words
    // behind many spaces take quadratic time.
    const std::size_t last = text.substr(0, at).find_last_not_of(kSpaces);
    if (last != std::string_view::npos && last > 0 && text.substr(last - 1, 2) == "/*") {
      plan.begin = last - 1;
      const std::size_t close = text.find("*/", at);
      plan.end = close == std::string_view::npos ? close : close + 2;
      return plan;
    }
    at = text.find("@winnow", at + 1);
  }
  return plan;
}

} // namespace winnow::agents
