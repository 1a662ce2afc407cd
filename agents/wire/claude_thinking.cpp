#include "agents/wire/claude_thinking.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <optional>

namespace winnow::agents {
namespace {

using nlohmann::json;

struct Version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};

constexpr Version kAdaptive{4, 6};       ///< the first that decides itself how long it thinks
constexpr Version kNoTemperature{4, 7};  ///< the first that refuses sampling parameters
constexpr Version kThinksUnasked{5, 0};  ///< the first that thinks if a request says nothing
constexpr Version kCannotBeSilent{5, 5}; ///< the first that refuses the type "disabled"
constexpr std::int64_t kLeastBudget = 1024;

/// Of a name like claude-opus-4-7, claude-3-7-sonnet-20250219 or anthropic/claude-sonnet-4.6.
std::optional<Version> version_of(std::string_view model) {
  const std::size_t claude = model.find("claude");
  if (claude == std::string_view::npos) {
    return std::nullopt;
  }
  std::optional<Version> version;
  for (std::size_t at = claude; at < model.size();) {
    const std::size_t end = std::min(model.find_first_of("-.@:", at), model.size());
    const std::string_view part = model.substr(at, end - at);
    const bool number =
        !part.empty() && part.size() <= 2 &&
        std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number && version) {
      version->minor = std::stoi(std::string(part));
      return version;
    }
    if (number) {
      version = Version{std::stoi(std::string(part)), 0};
    } else if (version) {
      return version; // the minor number follows the major one
    }
    at = end + 1;
  }
  return version;
}

json budget_of(const std::string& effort, std::int64_t max_tokens) {
  const std::int64_t wanted = effort == "minimal"  ? kLeastBudget
                              : effort == "low"    ? 4096
                              : effort == "medium" ? 8192
                              : effort == "high"   ? 16384
                                                   : 32768;
  // Thinking counts as output, and the answer needs a part of it.
  const std::int64_t budget = std::min(wanted, max_tokens / 2);
  return budget < kLeastBudget ? json() : json{{"type", "enabled"}, {"budget_tokens", budget}};
}

/// For a model that is told not to think.
ClaudeThinking without_thinking(std::string_view model, const std::optional<Version>& version) {
  const bool always_thinks =
      version && (*version >= kCannotBeSilent || model.find("fable") != std::string_view::npos ||
                  model.find("mythos") != std::string_view::npos);
  ClaudeThinking thinking;
  if (always_thinks && model.find("sonnet") != std::string_view::npos) {
    thinking.config = {{"type", "between_tools"}};
  } else if (always_thinks) {
    thinking.effort = "low";
  } else if (!version || *version < kNoTemperature || *version >= kThinksUnasked) {
    thinking.config = {{"type", "disabled"}};
  }
  thinking.takes_temperature = !version || *version < kNoTemperature;
  return thinking;
}

} // namespace

ClaudeThinking claude_thinking(std::string_view model, const std::string& effort,
                               std::int64_t max_tokens) {
  const std::optional<Version> version = version_of(model);
  if (effort == "none") {
    return without_thinking(model, version);
  }
  ClaudeThinking thinking;
  thinking.takes_temperature = effort.empty() && (!version || *version < kNoTemperature);
  if (effort.empty()) {
    return thinking;
  }
  if (version && *version < kAdaptive) {
    thinking.config = budget_of(effort, max_tokens);
    return thinking;
  }
  thinking.config = {{"type", "adaptive"}};
  thinking.effort = effort == "minimal" ? "low" : effort;
  return thinking;
}

} // namespace winnow::agents
