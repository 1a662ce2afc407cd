#include "agents/json/json_text.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/secrets.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

/// Why a long text is not parsed: the parser would take many times its size, also for its message
/// about a text that was cut off. nullptr: it is parsed. Looks at the bytes alone.
const char* fault_of_long(std::string_view text) {
  constexpr std::size_t kLong = 1U << 20U, kMostValues = 1'000'000, kMostTextBytes = 8U << 20U;
  if (text.size() <= kLong) {
    return nullptr;
  }
  std::size_t values = 0;
  std::ptrdiff_t level = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t end = json_string_end(text, i);
      if (end - i > kMostTextBytes) {
        return "JSON with a text of more than 8 MiB";
      }
      if (end >= text.size()) {
        return "not JSON: it is cut off";
      }
      i = end;
    } else {
      level += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      values += c == '[' || c == '{' || c == ',' ? 1 : 0;
    }
    if (values > kMostValues) {
      return "JSON of more than a million values";
    }
  }
  return level > 0 ? "not JSON: it is cut off" : nullptr;
}

nlohmann::json parse_limited(std::string_view text) {
  if (has_too_many_levels(text)) {
    throw Error(fmt::format("JSON nested more than {} levels deep", kMostJsonLevels));
  }
  return nlohmann::json::parse(text);
}

} // namespace

nlohmann::json parse_untrusted_json(std::string_view text) {
  if (const char* fault = fault_of_long(text)) {
    throw Error(fault);
  }
  try {
    return parse_limited(with_readable_text(text));
  } catch (const nlohmann::json::exception& failure) {
    // The message has the form "[json.exception.parse_error.101] parse error at line 1, column 1:
    // ..."
    const std::string all = without_secrets(failure.what()); // it quotes the text
    std::string_view what = all;
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    throw Error(fmt::format("not JSON: {}", what.substr(0, 200)));
  } catch (const std::bad_alloc&) {
    throw Error("JSON that needs more memory than is free");
  }
}

nlohmann::json json_or_null(std::string_view text) {
  if (fault_of_long(text) != nullptr) {
    return {};
  }
  try { // parsed without exceptions: a reply may have very many braces that begin no object
    const auto readable = with_readable_text(text);
    nlohmann::json value = has_too_many_levels(readable)
                               ? nlohmann::json()
                               : nlohmann::json::parse(readable, nullptr, false);
    return value.is_discarded() ? nlohmann::json() : value;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

std::string text_member(const nlohmann::json& object, const char* name, std::string otherwise) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>()
                                                       : std::move(otherwise);
}

std::int64_t count_member(const nlohmann::json& object, const char* name) {
  return static_cast<std::int64_t>(std::clamp(number_member(object, name, 0), 0.0, 9e15));
}

double number_member(const nlohmann::json& object, const char* name, double otherwise) {
  const auto member = object.find(name);
  return member != object.end() && member->is_number() ? member->get<double>() : otherwise;
}

} // namespace winnow::agents
