#include "tasks/json/json_fields.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "tasks/json/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Json = nlohmann::json;

std::string bytes_of_hex(const Json& json, const std::string& path) {
  const std::string hex = json.is_string() ? json.get<std::string>() : "x";
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const char* end = hex.data() + std::min(i + 2, hex.size());
    if (std::from_chars(hex.data() + i, end, byte, 16).ptr != hex.data() + i + 2) {
      throw_bad_json(path + ".hex", "two hexadecimal digits for each byte");
    }
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

} // namespace

void throw_bad_json(const std::string& path, std::string_view expected) {
  throw Error(fmt::format("{}: expected {}", path, expected));
}

std::string text_of_json(const Json& json, const std::string& path) {
  if (json.is_object() && json.size() == 1 && json.contains("hex")) {
    return bytes_of_hex(json["hex"], path);
  }
  if (!json.is_string()) {
    throw_bad_json(path, "text");
  }
  return json.get<std::string>();
}

std::uint64_t digits_of_json(const Json& json, const std::string& path) {
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const auto number = whole_number<std::uint64_t>(text);
  if (!number) {
    throw_bad_json(path, "a decimal number up to 2^64 - 1, as text");
  }
  return *number;
}

double number_of_json(const Json& json, const std::string& path, bool any) {
  try {
    const double number =
        json.is_number() || json.is_string() ? number_of(json) : throw Error("no number");
    if (any || std::isfinite(number)) {
      return number;
    }
  } catch (const std::exception&) { // from nlohmann and number_of()
  }
  throw_bad_json(path, any ? R"(a number, "nan", "inf" or "-inf")" : "a finite number");
}

bool may_be_any_number(std::string_view field) {
  constexpr std::array<std::string_view, 15> kAny{"got",
                                                  "expected",
                                                  "limit",
                                                  "worst_ratio",
                                                  "max_error_ratio",
                                                  "rms_error_ratio", // what a candidate computed
                                                  "element",
                                                  "norm", // ErrorRatios
                                                  "high", // of an interval without end
                                                  "value",
                                                  "real",
                                                  "once",
                                                  "a",
                                                  "b",
                                                  "alpha"}; // what a plan says
  return contains(kAny, field);
}

void take_schema(Json& json, std::string_view schema, int version) {
  if (!json.is_object() || json.value("schema", nlohmann::json()) != schema) {
    throw_bad_json("schema", schema);
  }
  if (json.value("version", nlohmann::json()) != version) {
    throw_bad_json("version", std::to_string(version));
  }
  json.erase("schema");
  json.erase("version");
}

Json with_valid_text(Json json) {
  if (json.is_object() && json.size() == 1 && json.contains("hex")) {
    return to_valid_utf8(text_of_json(json, "text"));
  }
  if (json.is_structured()) {
    for (Json& value : json) {
      value = with_valid_text(std::move(value));
    }
  }
  return json;
}

Json parse_json(std::string_view text, const std::string& name) {
  if (has_too_many_levels(text)) {
    throw_bad_json(name, fmt::format("JSON of at most {} levels", kMostJsonLevels));
  }
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    throw_bad_json(name, "JSON");
  }
  return document;
}

FieldReader::FieldReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
  if (!json.is_object()) {
    throw_bad_json(path_, "an object");
  }
}

const Json& FieldReader::find(const char* name) {
  const auto found = json_.find(name);
  if (found == json_.end()) {
    throw_bad_json(path_ + "." + name, "a value; it is missing");
  }
  read_.emplace_back(name);
  return *found;
}

void FieldReader::end() const {
  for (const auto& [key, value] : json_.items()) {
    if (!contains(read_, key)) {
      throw_bad_json(path_ + "." + to_valid_utf8(key), "no such key");
    }
  }
}

void JsonForm<std::map<std::string, std::int64_t>>::append(
    std::string& out, const std::map<std::string, std::int64_t>& values) {
  append_tree(out, values);
}

void JsonForm<std::map<std::string, std::int64_t>>::read(
    const Json& json, const std::string& path, std::map<std::string, std::int64_t>& values) {
  if (!json.is_object()) {
    throw_bad_json(path, "an object");
  }
  values.clear();
  for (const auto& [name, value] : json.items()) {
    read_integer(value, fmt::format("{}.{}", path, name), values[name]);
  }
}

} // namespace winnow::tasks
