#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/wire_render.h"

#include <string>

#include <nlohmann/json.hpp>

namespace winnow::tests {

// Functions that streamed and unstreamed answers share.

nlohmann::json usage_json(Wire wire, const Answer& answer, const Usage& usage);
std::string finish_word(Wire wire, const std::string& finish);
/// The whole object of the "responses" format: finished, or with the `status` "in_progress" that
/// opens a stream.
nlohmann::json response_object(const Answer& answer, const std::string& status);
nlohmann::json anthropic_message(const Answer& answer, const Usage& usage);
nlohmann::json gemini_chunk(const Answer& answer, nlohmann::json parts, const Usage& usage);
std::string response_status(const std::string& finish);

/// The value as JSON on one line, with kInvalidUtf8Mark replaced.
std::string write_json(const nlohmann::json& value);

} // namespace winnow::tests
