#include "agents/wire/wire_format.h"
#include "base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <tuple>

namespace {

using namespace winnow::agents;

void require(bool held) {
  if (!held) {
    std::abort();
  }
}

void check_error(const ProviderError& error) {
  require(error.message.size() <= 302 && error.message.find('\n') == std::string::npos);
}

void check_answer(const WireAnswer& answer) {
  require((answer.reply ? 1 : 0) + (answer.error ? 1 : 0) + (answer.malformed.empty() ? 0 : 1) ==
          1);
  require(answer.malformed.size() < 1000);
  if (answer.error) {
    check_error(*answer.error);
  }
  const Usage& usage = answer.reply ? answer.reply->usage : answer.lost_usage;
  require(usage.cached_tokens >= 0 && usage.cache_write_tokens >= 0 &&
          usage.cached_tokens + usage.cache_write_tokens <= usage.prompt_tokens);
  require(usage.reasoning_tokens >= 0 && usage.reasoning_tokens <= usage.completion_tokens);
}

WireAnswer stream_answer(const WireFormat& format, std::string_view body, std::size_t piece) {
  const auto decoder = format.stream_decoder();
  while (!body.empty()) {
    decoder->feed(body.substr(0, piece));
    body.remove_prefix(std::min(piece, body.size()));
  }
  WireAnswer answer = decoder->finish();
  require(decoder->has_content() || !answer.reply || answer.reply->text.empty());
  return answer;
}

auto essence(const WireAnswer& answer) {
  return std::tuple(
      answer.reply ? answer.reply->text : "", answer.reply ? answer.reply->finish_reason : "",
      answer.error ? answer.error->message : "", answer.malformed, answer.lost_usage.prompt_tokens);
}

/// However a stream is cut, the answer must be the same. The first byte selects the size of the
/// pieces.
void check_stream(const WireFormat& format, std::string_view input) {
  if (input.empty()) {
    return;
  }
  const std::size_t piece = static_cast<unsigned char>(input.front()) % 64U + 1;
  const std::string_view body = input.substr(1);
  const WireAnswer answer = stream_answer(format, body, piece);
  check_answer(answer);
  require(essence(answer) == essence(stream_answer(format, body, body.size() + 1)));
}

void check_batch_line(std::string_view line) {
  try {
    const BatchAnswer answer = decode_batch_line(line);
    require(!answer.custom_id.empty());
    check_answer(answer.answer);
  } catch (const winnow::Error&) { // not a line of a batch
  }
}

} // namespace

// Input from an endpoint. The first byte selects the format (modulo 4) and the kind of the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const WireFormat& format = *find_wire_format(wire_format_names()[data[0] % 4U]);
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] / 4U % 4U) {
  case 0:
    check_answer(format.decode(input));
    break;
  case 1:
    check_stream(format, input);
    break;
  case 2:
    check_error(decode_error_body(input));
    break;
  default:
    check_batch_line(input);
  }
  return 0;
}
