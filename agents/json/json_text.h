#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// No honest message nests as deeply. Writing out a deeper one would exhaust the stack.
constexpr int kMaxJsonDepth = 100;

/// Parses JSON from an untrusted source. Repairs it as with_readable_text() (base/json_dump.h)
/// does, because some models and servers send such text. Throws Error with the reason ("not JSON:
/// ... at byte 12", "nested more than 100 levels deep").
nlohmann::json parse_untrusted_json(std::string_view text);

/// The index of the quote that ends the JSON string which begins at `begin`; text.size(): it has
/// no end.
std::size_t json_string_end(std::string_view text, std::size_t begin);

/// The value of a member; `otherwise` if the member is missing or of another type.
std::string text_member(const nlohmann::json& object, const char* name, std::string otherwise = {});
std::int64_t count_member(const nlohmann::json& object,
                          const char* name); ///< 0 when negative or missing
double number_member(const nlohmann::json& object, const char* name, double otherwise);

} // namespace winnow::agents
