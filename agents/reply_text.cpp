#include "agents/reply_text.h"

#include "agents/json_text.h"
#include "base/error.h"
#include "base/text.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

namespace {

constexpr std::array<std::string_view, 3> kTags{"think", "thinking", "reasoning"};

/// The thoughts without the tags around them. The closing tag is missing if the reply ends in them.
std::string without_tags(std::string_view thoughts) {
  thoughts = trim(thoughts);
  for (const std::string_view tag : kTags) {
    const std::string open = fmt::format("<{}>", tag), close = fmt::format("</{}>", tag);
    if (thoughts.starts_with(open)) {
      thoughts.remove_prefix(open.size());
    }
    if (thoughts.ends_with(close)) {
      thoughts.remove_suffix(close.size());
    }
  }
  return std::string(trim(thoughts));
}

} // namespace

bool skip_thoughts(std::string_view& reply) {
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

ReplyParts split_reply(std::string_view reply) {
  if (const auto reasoning = structured_member(reply, "reasoning")) {
    return {*reasoning, std::string(reply)};
  }
  std::string_view answer = reply;
  if (!skip_thoughts(answer)) {
    return {without_tags(reply), ""};
  }
  return {without_tags(reply.substr(0, reply.size() - answer.size())), std::string(trim(answer))};
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
