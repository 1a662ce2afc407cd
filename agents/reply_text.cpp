#include "agents/reply_text.h"

#include "agents/json_text.h"
#include "base/error.h"
#include "base/text.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {

PlanComment find_plan(std::string_view text) {
  PlanComment plan;
  std::size_t at = text.find("@winnow");
  while (at != std::string_view::npos) {
    const std::string_view before = trim(text.substr(0, at));
    if (before.size() >= 2 && before.substr(before.size() - 2) == "/*") {
      plan.begin = before.size() - 2 + static_cast<std::size_t>(before.data() - text.data());
      const std::size_t close = text.find("*/", at);
      plan.end = close == std::string_view::npos ? close : close + 2;
      return plan;
    }
    at = text.find("@winnow", at + 1);
  }
  return plan;
}

bool skip_thoughts(std::string_view& reply) {
  constexpr std::array<std::string_view, 3> kTags{"think", "thinking", "reasoning"};
  for (const std::string_view tag : kTags) {
    // The last closing tag counts. The opening tag may be missing, because some chat templates
    // remove it.
    const std::string close = fmt::format("</{}>", tag);
    if (const std::size_t at = reply.rfind(close); at != std::string_view::npos) {
      reply.remove_prefix(at + close.size());
      return true;
    }
    const std::string open = fmt::format("<{}>", tag);
    if (trim(reply).substr(0, open.size()) == open) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> structured_member(std::string_view reply, const char* name) {
  if (!trim(reply).starts_with('{')) {
    return std::nullopt;
  }
  try {
    const nlohmann::json json = parse_untrusted_json(reply);
    const std::string text = text_member(json, name);
    return text.empty() ? std::nullopt : std::optional(text);
  } catch (const Error&) {
    return std::nullopt; // not JSON: device code may begin with a brace
  }
}

} // namespace winnow::agents
