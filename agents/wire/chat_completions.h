#pragma once

#include "agents/model_endpoint.h"

#include <optional>
#include <string>
#include <string_view>

namespace winnow::agents {

/// OpenAI chat completions, not streaming: what goes over the wire, and nothing about how.
/// `user` carries the call's key, so that a server's log and ours can be put side by side.
std::string encode_chat_request(const ModelRequest& request, bool openai_itself);

/// What an endpoint's error message says, as far as it can be understood.
struct ProviderError {
  std::string message; ///< cleaned, at most 300 bytes
  long status = 0;     ///< a status inside the body, which some gateways send with HTTP 200
  bool out_of_money = false;
};
ProviderError decode_chat_error(std::string_view body);

/// A decoded HTTP 200: a reply, an error sent with 200, or neither (`malformed` says what came).
struct ChatAnswer {
  std::optional<ModelReply> reply; ///< status Ok; text may be empty; `dollars` only if reported
  bool usage_known = false;
  std::optional<ProviderError> error;
  std::string malformed;
};
ChatAnswer decode_chat_answer(std::string_view body);

} // namespace winnow::agents
