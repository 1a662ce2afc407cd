#include "agents/wire/request_parts.h"

#include "agents/json/json_text.h"
#include "agents/wire/members.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

constexpr std::size_t kPrefixKeyDigits = 16;

json parse_object(const std::string& text, const std::string& what) {
  json parsed;
  try {
    parsed = parse_untrusted_json(text);
  } catch (const Error& failure) {
    throw UsageError(fmt::format("{} is {}", what, failure.what()));
  }
  if (!parsed.is_object()) {
    throw UsageError(fmt::format("{} is not a JSON object", what));
  }
  return parsed;
}

bool is_unreserved(char c) { // RFC 3986, 2.3
  return is_word_character(c) || c == '-' || c == '.' || c == '~';
}

} // namespace

std::string Turn::text() const {
  std::string joined;
  for (const Part& part : parts) {
    joined += part.text;
  }
  return joined;
}

std::vector<Turn> turns_of(const ModelRequest& request) {
  std::vector<Turn> turns;
  for (const Message& message : request.messages) {
    if (!message.text.empty()) {
      if (turns.empty() || turns.back().role != message.role) {
        turns.push_back({message.role, {}});
      }
      std::vector<Turn::Part>& parts = turns.back().parts;
      if (parts.empty() || parts.back().end_of_prefix) {
        parts.emplace_back();
      }
      parts.back().text +=
          find_invalid_utf8(message.text) ? to_valid_utf8(message.text) : message.text;
    }
    if (message.end_of_prefix && !turns.empty()) {
      turns.back().parts.back().end_of_prefix = true;
    }
  }
  return turns;
}

std::string prefix_key(const ModelRequest& request) {
  std::string prefix;
  for (const Turn& turn : turns_of(request)) {
    for (const Turn::Part& part : turn.parts) {
      prefix += part.text;
      if (part.end_of_prefix) {
        return "winnow-" + sha256_hex(prefix).substr(0, kPrefixKeyDigits);
      }
    }
  }
  return {};
}

json schema_of(const ReplySchema& schema) {
  return parse_object(schema.schema, fmt::format("the reply schema '{}'", schema.name));
}

void apply_options(json& body, const WireOptions& options) {
  for (const auto& [changes, what] : {std::pair(&options.members, "members"),
                                      std::pair(&options.learned, "the endpoint's changes")}) {
    if (!trim(*changes).empty()) {
      change_members(body, parse_object(*changes, what));
    }
  }
  if (!trim(options.extra_body).empty()) {
    body.merge_patch(parse_object(options.extra_body, "extra_body"));
  }
}

BaseUrl::BaseUrl(const std::string& base, std::string_view otherwise)
    : path(base.empty() ? std::string(otherwise) : base) {
  if (const std::size_t mark = path.find('?'); mark != std::string::npos) {
    query = path.substr(mark);
    path.resize(mark);
  }
  while (path.ends_with('/')) {
    path.pop_back();
  }
}

std::string BaseUrl::with(std::string_view suffix) const {
  return path.ends_with(suffix) ? path + query : fmt::format("{}{}{}", path, suffix, query);
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    encoded += is_unreserved(c) ? std::string(1, c)
                                : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

} // namespace winnow::agents
