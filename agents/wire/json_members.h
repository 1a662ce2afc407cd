#pragma once

#include <nlohmann/json.hpp>

namespace winnow::agents {

/// The value of a member; empty if the member is missing or of another type.
inline const nlohmann::json& object_member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none = nlohmann::json::object();
  const auto member = object.find(name);
  return member != object.end() && member->is_object() ? *member : none;
}

inline const nlohmann::json& array_member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto member = object.find(name);
  return member != object.end() && member->is_array() ? *member : none;
}

} // namespace winnow::agents
