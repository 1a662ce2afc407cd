// The JSON of plain structs, for .cpp files. A struct lists its members once:
//
//   WINNOW_JSON_MEMBERS(Energy, joules_per_launch, average_power_w, reason, method)
//
// defines the to_json() and from_json() that its header declares. A missing optional is null.
// Reading throws nlohmann exceptions for a missing key and for a value of another type.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#define WINNOW_JSON_MEMBERS(Type, ...)                                                             \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {                     \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                       \
  }                                                                                                \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) {                   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))                     \
  }

template <typename Value> struct nlohmann::adl_serializer<std::optional<Value>> {
  static void to_json(nlohmann::json& json, const std::optional<Value>& value) {
    json = value ? nlohmann::json(*value) : nlohmann::json();
  }
  static void from_json(const nlohmann::json& json, std::optional<Value>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.get<Value>());
  }
};
