#include "harness/serve/target.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace winnow::harness {
namespace {

constexpr std::size_t kMaxParts = 32;

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    const char* begin = text.data() + i + 1;
    const char* end = begin + 2;
    if (i + 2 >= text.size() || std::from_chars(begin, end, byte, 16).ptr != end) {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equals), true);
    const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value || target.query.size() == kMaxParts) {
      return false;
    }
    if (!pair.empty()) {
      target.query[*name] = *value;
    }
  }
  return true;
}

} // namespace

bool Target::is(std::initializer_list<std::string_view> begin, std::size_t more) const {
  return path.size() == begin.size() + more && std::equal(begin.begin(), begin.end(), path.begin());
}

void Target::allow_only(const std::vector<std::string>& names) const {
  for (const auto& [name, value] : query) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string shown = shortened(to_valid_utf8(name), 40);
      throw UsageError("the URL has the unknown option '" + shown + "'" + suggestion(shown, names));
    }
  }
}

std::string Target::value(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::int64_t Target::number(const std::string& name, std::int64_t most) const {
  const std::string text = value(name);
  if (text.empty()) {
    return 0;
  }
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  const bool is_large = problem == std::errc::result_out_of_range && text.front() != '-';
  if (stop != end || (problem != std::errc() && !is_large) || number < 0) {
    throw UsageError(name + " is no whole number of at least 0");
  }
  return is_large ? most : std::min(number, most);
}

std::optional<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) {
    return std::nullopt;
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  std::string_view path = text.substr(0, question);
  Target target;
  while (!path.empty()) {
    path.remove_prefix(1); // the slash
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    const auto plain = decoded(part, false);
    if (!plain || target.path.size() == kMaxParts) {
      return std::nullopt;
    }
    if (!plain->empty()) {
      target.path.push_back(*plain);
    }
  }
  if (!parse_query(text.substr(std::min(question + 1, text.size())), target)) {
    return std::nullopt;
  }
  return target;
}

} // namespace winnow::harness
