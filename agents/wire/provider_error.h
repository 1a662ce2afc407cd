#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// Decodes an error in a provider's form: {"message", "type", "code", "status", "details"}, with a
/// number or a word as code, or only a text. Never throws.
ProviderError error_from(const nlohmann::json& error);

/// Like error_from(), for an error inside an answer with HTTP status 200. If the error has no
/// numeric code, the HTTP status is derived from its words ("overloaded_error").
ProviderError error_within_success(const nlohmann::json& error);

/// The error in an answer: its "error" member, if that is not empty. nullptr: no error.
const nlohmann::json* find_error(const nlohmann::json& answer);

/// The error in a body that is no answer; nullptr if nothing in it looks like an error. The names
/// other than "error" come from vLLM and FastAPI, whose list Mistral puts into "message".
const nlohmann::json* error_in(const nlohmann::json& body);

/// For messages: "an empty body", or the start of the body in quotes on one line.
std::string quoted_start(std::string_view body);

} // namespace winnow::agents
