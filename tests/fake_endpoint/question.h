#pragma once

#include "tests/fake_endpoint/http_request.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::tests {

enum class Wire { Chat, Responses, Anthropic, Gemini };
std::string_view wire_name(Wire wire); ///< "chat", "responses", "anthropic", "gemini"

/// The content of a request, in a form that does not depend on the wire format.
struct Question {
  Wire wire = Wire::Chat;
  bool stream = false;
  bool wants_usage = true; ///< chat streams only: stream_options.include_usage
  std::string key;         ///< chat "user", responses metadata.key, Anthropic metadata.user_id
  std::string model;
  std::string text; ///< text of all messages, including the instructions
};

/// nullopt if no provider has such a path.
std::optional<Question> understand(const SeenRequest& request);
/// Why a provider would answer HTTP 400; empty if it would not.
std::string complaint(const Question& question, const SeenRequest& request);

} // namespace winnow::tests
