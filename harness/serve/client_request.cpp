#include "harness/serve/client_request.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr int kMaxLevels = 64;
constexpr std::size_t kMaxValues = 1'000'000;

/// Looks at the bytes alone. So nothing is allocated for a body that is refused.
void check_size(std::string_view body) {
  int level = 0;
  std::size_t values = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      ++values;
      if (++level > kMaxLevels) {
        throw UsageError(fmt::format("the JSON of the body has more than {} levels", kMaxLevels));
      }
    } else if (c == ']' || c == '}') {
      --level;
    } else if (c == ',') {
      ++values;
    }
    if (values > kMaxValues) {
      throw UsageError(fmt::format("the JSON of the body has more than {} values", kMaxValues),
                       "send fewer items");
    }
  }
}

[[noreturn]] void throw_type(const std::string& path, const char* expected) {
  throw UsageError(fmt::format("{} is no {}", path, expected));
}

} // namespace

json parse_client_json(std::string_view body) {
  check_size(body);
  json document = json::parse(with_readable_text(body), nullptr, false);
  if (document.is_discarded()) {
    throw UsageError("the body is no JSON");
  }
  if (!document.is_object()) {
    throw UsageError("the body is no JSON object");
  }
  return document;
}

ClientObject::ClientObject(const json& json, std::string path)
    : json_(json), path_(std::move(path)) {
  if (!json_.is_object()) {
    throw_type(path_.empty() ? "the body" : path_, "object");
  }
}

std::string ClientObject::path_of(const char* name) const {
  return path_.empty() ? name : path_ + "." + name;
}

const json* ClientObject::find(const char* name) const {
  const auto found = json_.find(name);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

std::string ClientObject::text(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    throw_type(path_of(name), "text");
  }
  return value->get<std::string>();
}

bool ClientObject::boolean(const char* name) const {
  const json* value = find(name);
  if (value != nullptr && !value->is_boolean()) {
    throw_type(path_of(name), "boolean");
  }
  return value != nullptr && value->get<bool>();
}

std::int64_t ClientObject::number(const char* name, std::int64_t most) const {
  const json* value = find(name);
  if (value == nullptr) {
    return 0;
  }
  if (!value->is_number() || !(value->get<double>() >= 0)) {
    throw_type(path_of(name), "number of at least 0");
  }
  return value->get<double>() >= static_cast<double>(most) ? most : value->get<std::int64_t>();
}

std::int64_t ClientObject::whole_number(const char* name, std::int64_t least, std::int64_t most,
                                        std::int64_t otherwise) const {
  const json* value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  // As a double, because a number of the body may be larger than an integer.
  const bool fits = value->is_number_integer() &&
                    value->get<double>() >= static_cast<double>(least) &&
                    value->get<double>() <= static_cast<double>(most);
  if (!fits) {
    throw UsageError(
        fmt::format("{} is no whole number from {} to {}", path_of(name), least, most));
  }
  return value->get<std::int64_t>();
}

std::vector<std::string> ClientObject::texts(const char* name) const {
  const json* value = find(name);
  std::vector<std::string> list;
  if (value == nullptr) {
    return list;
  }
  if (!value->is_array()) {
    throw_type(path_of(name), "list of texts");
  }
  for (const json& element : *value) {
    if (!element.is_string() && !element.is_null()) {
      throw_type(path_of(name), "list of texts");
    }
    list.push_back(element.is_null() ? "" : element.get<std::string>());
  }
  return list;
}

void ClientObject::allow_only(const std::vector<std::string>& names) const {
  for (const auto& [key, value] : json_.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      const std::string shown = shortened(to_valid_utf8(key), 40);
      throw UsageError(path_of(shown.c_str()) + " is unknown" + suggestion(shown, names));
    }
  }
}

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
    if (!pair.empty() && !target.query.emplace(*name, *value).second) {
      return false; // a proxy may take the other one
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
