#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// An error as providers write it: {"message", "type", "code", "status", "details"}, where the code
/// may be a number or a word, or just a text. Never throws.
ProviderError error_from(const nlohmann::json& error);

/// The same for an error that came inside a success: where it holds no number, its words
/// ("overloaded_error") say which HTTP status would have come in the success's place.
ProviderError error_within_success(const nlohmann::json& error);

/// The error that an answer carries, nullptr if none: its "error" member, if that says anything.
const nlohmann::json* find_error(const nlohmann::json& answer);

ProviderError decode_error_body(std::string_view body);

/// For messages: "an empty body" or the start of it in quotes, on one line.
std::string quoted_start(std::string_view body);

} // namespace winnow::agents
