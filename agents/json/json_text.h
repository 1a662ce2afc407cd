#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace winnow::agents {

/// Parses JSON from an untrusted source. Repairs it as with_readable_text() (base/json_dump.h)
/// does, because some models and servers send such text. Throws Error with the reason ("not JSON:
/// ... at byte 12", "nested more than 100 levels deep"). Of more than 1 MiB it may have a million
/// values, and texts of 8 MiB: the parser takes many times the size of others.
nlohmann::json parse_untrusted_json(std::string_view text);
/// The same, but null instead of an error.
nlohmann::json json_or_null(std::string_view text);

/// The value of a member; `otherwise` if the member is missing or of another type.
std::string text_member(const nlohmann::json& object, const char* name, std::string otherwise = {});
std::int64_t count_member(const nlohmann::json& object,
                          const char* name); ///< 0 when negative or missing
double number_member(const nlohmann::json& object, const char* name, double otherwise);

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
