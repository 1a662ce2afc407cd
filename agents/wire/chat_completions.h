#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>

namespace winnow::agents {

// The format "chat", not streaming, for openai_endpoint.cpp.
std::string encode_chat_request(const ModelRequest& request, bool openai_itself);
ProviderError decode_chat_error(std::string_view body);
using ChatAnswer = WireAnswer;
ChatAnswer decode_chat_answer(std::string_view body);

} // namespace winnow::agents
