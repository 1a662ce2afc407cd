#pragma once

#include "agents/wire/wire_format.h"

#include <string>
#include <string_view>

namespace winnow::agents {

inline const WireFormat& format_named(std::string_view name) {
  return *find_wire_format(name);
}

/// Decodes a stream whose body arrives in pieces of `piece` bytes.
inline WireAnswer stream_answer(const WireFormat& format, std::string_view body,
                                std::size_t piece = 7) {
  const auto decoder = format.stream_decoder();
  while (!body.empty()) {
    decoder->feed(body.substr(0, piece));
    body.remove_prefix(std::min(piece, body.size()));
  }
  return decoder->finish();
}

/// Makes one event from each text.
inline std::string data_events(std::initializer_list<std::string> data) {
  std::string body;
  for (const std::string& text : data) {
    body += "data: " + text + "\n\n";
  }
  return body;
}

inline bool exactly_one_outcome(const WireAnswer& answer) {
  return (answer.reply ? 1 : 0) + (answer.error ? 1 : 0) + (answer.malformed.empty() ? 0 : 1) == 1;
}

/// A request that sets everything: two cacheable prefixes, a schema and all other members.
inline ModelRequest full_request() {
  ModelRequest request;
  request.key = "axpy/0/1";
  request.model = "m";
  request.messages = {{"system", "rules", true},
                      {"user", "task ", true},
                      {"user", "caf\xC3\xA9 \xFF", false},
                      {"assistant", "a kernel", false},
                      {"user", "better", false}};
  request.temperature = 0.5;
  request.max_output_tokens = 1000;
  request.effort = "high";
  request.schema = ReplySchema{"verdict", R"({"type":"object"})"};
  return request;
}

inline ModelRequest plain_request() {
  ModelRequest request;
  request.model = "m";
  request.messages = {{"user", "hello", false}};
  return request;
}

} // namespace winnow::agents
