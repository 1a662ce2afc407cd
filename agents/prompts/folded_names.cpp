#include "agents/prompts/folded_names.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

/// What a part of a name may be, in the order of the names.
using Alternatives = std::vector<std::string>;

struct Pattern {
  std::vector<Alternatives> parts; ///< every combination is a name
  std::string kind;
};

enum class Letter { Digit, Underscore, Other };

Letter letter_of(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 ? Letter::Digit
         : c == '_'                                       ? Letter::Underscore
                                                          : Letter::Other;
}

/// "layer1_0_bn2" becomes "layer", "1", "_", "0", "_", "bn", "2".
Pattern parts_of(const NameOfKind& name) {
  Pattern pattern{{}, name.kind};
  for (std::size_t i = 0; i < name.name.size(); ++i) {
    if (i == 0 || letter_of(name.name[i]) != letter_of(name.name[i - 1])) {
      pattern.parts.push_back({""});
    }
    pattern.parts.back().front() += name.name[i];
  }
  return pattern;
}

/// Joins patterns that differ in this part only. They stand for different names, and so does their
/// union.
std::vector<Pattern> folded_at(const std::vector<Pattern>& patterns, std::size_t part) {
  std::vector<Pattern> result;
  std::map<std::pair<std::vector<Alternatives>, std::string>, std::size_t> places;
  for (const Pattern& pattern : patterns) {
    if (part >= pattern.parts.size()) {
      result.push_back(pattern);
      continue;
    }
    std::vector<Alternatives> others = pattern.parts;
    others[part].clear();
    const auto [place, is_new] =
        places.try_emplace({std::move(others), pattern.kind}, result.size());
    if (is_new) {
      result.push_back(pattern);
    } else {
      Alternatives& all = result[place->second].parts[part];
      all.insert(all.end(), pattern.parts[part].begin(), pattern.parts[part].end());
    }
  }
  return result;
}

/// Whether the texts are the numbers from the first to the last, each one more than the one before.
bool is_range(const Alternatives& texts) {
  constexpr std::size_t kMostDigits = 6;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    const bool is_number =
        text.size() <= kMostDigits &&
        std::all_of(text.begin(), text.end(), [](char c) { return letter_of(c) == Letter::Digit; });
    if (!is_number || text != std::to_string(std::stol(texts[0]) + static_cast<long>(i))) {
      return false;
    }
  }
  return texts.size() > 2;
}

NameOfKind text_of(const Pattern& pattern) {
  NameOfKind result{"", pattern.kind};
  for (const Alternatives& texts : pattern.parts) {
    result.name += texts.size() == 1 ? texts.front()
                   : is_range(texts) ? fmt::format("{{{}..{}}}", texts.front(), texts.back())
                                     : "{" + join(texts, ",") + "}";
  }
  return result;
}

} // namespace

std::vector<NameOfKind> folded(const std::vector<NameOfKind>& names) {
  std::vector<Pattern> patterns;
  std::size_t most_parts = 0;
  for (const NameOfKind& name : names) {
    patterns.push_back(parts_of(name));
    most_parts = std::max(most_parts, patterns.back().parts.size());
  }
  for (std::size_t part = most_parts; part-- > 0;) {
    patterns = folded_at(patterns, part);
  }
  auto result =
      each<NameOfKind>(patterns, [&](const Pattern& pattern) { return text_of(pattern); });
  return result;
}

} // namespace winnow::agents
