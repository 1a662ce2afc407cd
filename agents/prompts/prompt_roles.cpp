// The sections that only runs with roles have.
#include "agents/prompts/prompt_sections.h"
#include "base/text.h"

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::size_t kMaxNumberedBytes = 56U << 10U; // as for code in prompt_attempts.cpp

/// "  12| code", in a fenced block.
std::string numbered(std::string_view code) {
  const std::string_view fence = code.find("```") == std::string_view::npos ? "```" : "~~~~";
  std::string text = fmt::format("{}\n", fence);
  std::size_t number = 0;
  for (const std::string_view line : split_lines(code)) {
    text += fmt::format("{:4}| {}\n", ++number, line);
  }
  return truncate_text(to_valid_utf8(text), kMaxNumberedBytes) + fmt::format("{}\n", fence);
}

} // namespace

MaybeValues text_value(const char* name, const std::string& text) {
  return text.empty() ? std::nullopt : MaybeValues(Values{{name, to_valid_utf8(text)}});
}

MaybeValues list_value(const char* name, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("- {}\n", to_valid_utf8(trim(line)));
  }
  return text_value(name, text);
}

MaybeValues render_candidate(const ProposalContext& context) {
  return context.parent ? MaybeValues(Values{{"code", numbered(context.parent->text)}})
                        : std::nullopt;
}

} // namespace winnow::agents
