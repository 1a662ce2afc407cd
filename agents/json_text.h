#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// Nesting that no honest message comes near; deeper ones would exhaust the stack when written out.
constexpr int kMaxJsonDepth = 100;

/// Text from outside as JSON. Invalid UTF-8 is replaced, not refused: models do send it. Throws
/// Error saying what is wrong ("not JSON: ... at byte 12", "nested more than 100 levels deep").
nlohmann::json parse_untrusted_json(std::string_view text);

/// A member that may be missing or of another type, which then counts as `otherwise`.
std::string text_member(const nlohmann::json& object, const char* name, std::string otherwise = {});
std::int64_t count_member(const nlohmann::json& object,
                          const char* name); ///< 0 when negative or missing
double number_member(const nlohmann::json& object, const char* name, double otherwise);

} // namespace winnow::agents
