#include "agents/wire/chat_completions.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The body of an HTTP answer: exactly one of reply, error and complaint comes out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto answer = winnow::agents::decode_chat_answer(body);
  const int outcomes =
      (answer.reply ? 1 : 0) + (answer.error ? 1 : 0) + (answer.malformed.empty() ? 0 : 1);
  if (outcomes != 1 || winnow::agents::decode_chat_error(body).message.size() > 400) {
    std::abort();
  }
  return 0;
}
