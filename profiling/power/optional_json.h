// Reads and writes optional values; a missing value is null in JSON. For the .cpp files of
// profiling/.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

namespace winnow::profiling {

template <class Value> nlohmann::json json_of(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// Treats absent and null the same. Throws nlohmann exceptions for a value of another type.
template <class Value>
std::optional<Value> optional_value(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) {
    return std::nullopt;
  }
  return found->get<Value>();
}

} // namespace winnow::profiling
