#include "harness/mcp/argument_check.h"

#include "base/json_dump.h"
#include "base/text.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::size_t kShownValueBytes = 60;

std::string at_path(const std::string& path, const std::string& what) {
  return path.empty() ? what : path + ": " + what;
}

bool has_type(const nlohmann::json& value, std::string_view type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "boolean" ? value.is_boolean()
                             : value.is_number_integer();
}

std::string with_article(const std::string& type) {
  return (type == "string" || type == "boolean" ? "a " : "an ") + type;
}

std::string fault_of_object(const nlohmann::json& schema, const nlohmann::json& value,
                            const std::string& path) {
  const nlohmann::json& properties = schema["properties"];
  for (const auto& [name, member] : value.items()) {
    const auto known = properties.find(name);
    if (known == properties.end()) {
      std::vector<std::string> names;
      for (const auto& property : properties.items()) {
        names.push_back(property.key());
      }
      const std::string shown = shortened(name, kShownValueBytes);
      return at_path(path, fmt::format("unknown property '{}'{}", shown, suggestion(name, names)));
    }
    std::string fault = fault_of_value(*known, member, path.empty() ? name : path + "." + name);
    if (!fault.empty()) {
      return fault;
    }
  }
  for (const nlohmann::json& name : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(name.get<std::string>())) {
      return at_path(path, fmt::format("'{}' is missing", name.get<std::string>()));
    }
  }
  return {};
}

std::string fault_of_array(const nlohmann::json& schema, const nlohmann::json& value,
                           const std::string& path) {
  const auto least = schema.value("minItems", std::size_t{0});
  const auto most = schema.value("maxItems", value.size());
  if (value.size() < least || value.size() > most) {
    return at_path(path, fmt::format("expected {} to {} items, not {}", least, most, value.size()));
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string fault = fault_of_value(schema["items"], value[i], fmt::format("{}[{}]", path, i));
    if (!fault.empty()) {
      return fault;
    }
  }
  return {};
}

std::string fault_of_number(const nlohmann::json& schema, const nlohmann::json& value,
                            const std::string& path) {
  const auto least = schema["minimum"].get<std::int64_t>();
  const auto most = schema["maximum"].get<std::int64_t>();
  const bool is_huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (is_huge || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    return at_path(path, fmt::format("expected {} to {}, not {}", least, most, value.dump()));
  }
  return {};
}

} // namespace

std::string fault_of_value(const nlohmann::json& schema, const nlohmann::json& value,
                           const std::string& path) {
  const auto type = schema["type"].get<std::string>();
  if (!has_type(value, type)) {
    return at_path(path, fmt::format("expected {}, not {}", with_article(type),
                                     shortened(json_line(value), kShownValueBytes)));
  }
  const nlohmann::json words = schema.value("enum", nlohmann::json::array());
  if (!words.empty() && !contains(words, value)) {
    return at_path(path, fmt::format("expected one of {}, not {}", json_line(words),
                                     shortened(json_line(value), kShownValueBytes)));
  }
  return type == "object"    ? fault_of_object(schema, value, path)
         : type == "array"   ? fault_of_array(schema, value, path)
         : type == "integer" ? fault_of_number(schema, value, path)
                             : std::string();
}

} // namespace winnow::harness
