#include "agents/wire/chat_completions.h"

#include "agents/wire/format_base.h"

namespace winnow::agents {

std::string encode_chat_request(const ModelRequest& request, bool openai_itself) {
  WireOptions options;
  options.stream = false;
  options.openai_itself = openai_itself;
  return chat_format().encode(request, options).dump();
}

ProviderError decode_chat_error(std::string_view body) {
  return decode_error_body(body);
}

ChatAnswer decode_chat_answer(std::string_view body) {
  return chat_format().decode(body);
}

} // namespace winnow::agents
