#pragma once

#include "agents/model_request.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tests {

using agents::Usage;

/// What a model says, whatever the format it is asked in.
struct Answer {
  std::string text;
  std::string reasoning;
  /// "stop", "length", "content_filter", "tool_calls", or "refusal": `text` is then the refusal.
  std::string finish = "stop";
  Usage usage{10, 4, 5, 2, 0};
  std::optional<double> dollars; ///< said by the endpoint itself, as OpenRouter does (chat only)
  std::string model = "fake-model";
};

/// A failure that each format words in its own way.
struct FakeError {
  int status = 500; ///< as the body has it; the HTTP status is FakeReply's
  std::string message;
  std::string type = "error"; ///< OpenAI's and Anthropic's word
  std::string code;           ///< OpenAI's; empty: null
  std::string retry_delay;    ///< Gemini's RetryInfo: "22s"; empty: none
  std::string quota_id;       ///< Gemini's QuotaFailure; empty: none
};

/// How an answer travels. Nothing here changes what it says.
struct Delivery {
  std::chrono::microseconds first_byte{0};  ///< before the head
  std::chrono::microseconds first_token{0}; ///< of a stream, after its opening events
  std::chrono::microseconds between{0};     ///< two pieces of a stream's text
  std::size_t piece_bytes = 16;             ///< of text an event, at least; never half a character
  std::size_t segment_bytes = 0; ///< TCP segments of this size, cut anywhere; 0: one an event
  bool crlf = false;             ///< line ends of the stream
  bool comments = false;         ///< comments and pings between events
  bool multi_line = false;       ///< events' data spread over several "data:" lines
  /// The last piece of text gets the time of its writing (CLOCK_MONOTONIC, ns, 20 digits), and what
  /// follows it is written with it. Not together with segment_bytes.
  bool stamp = false;
};

/// A part of a stream that is sent as it is.
struct RawEvent {
  std::chrono::microseconds wait{0};
  std::string bytes;
};

/// One scripted reply: `answer` or `error` in the format of the request, else `events`
/// as a stream, else `body` as it is.
struct FakeReply {
  /// What goes wrong on the way.
  enum class Fault {
    None,
    NeverAnswer,     ///< accepts the request and says nothing until the server goes
    CloseAtOnce,     ///< closes the connection without a byte
    SilentAfterHead, ///< answers HTTP 200, opens a stream without a token, then says nothing
    CloseMidBody,    ///< half of a stream, or a body promised one byte longer, then closes
    StallMidBody,    ///< the same, then says nothing until the server goes
    EndEarly,        ///< a proper HTTP end after half of the stream's tokens or of the body
    ErrorMidStream,  ///< half of a stream, then the format's error event; unstreamed an HTTP 200
                     ///< error
    EndlessText,     ///< tokens without an end
    EndlessPings,    ///< comments and pings (unstreamed: white space) without an end, never a token
    ShortLength,     ///< a content-length of half the body
  };

  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Fault fault = Fault::None;
  std::optional<Answer> answer; ///< streamed when the request asks for a stream
  std::optional<FakeError> error;
  std::vector<RawEvent> events;
  Delivery delivery;
  std::string key; ///< of the call in the server's account; empty: the one in the request
  std::optional<std::size_t>
      drop_after_bytes; ///< of the body or stream; then the connection closes
};

using Fault = FakeReply::Fault;

/// An answer with this text; usage is 10 prompt (4 cached) and 5 completion (2 reasoning) tokens.
FakeReply chat_reply(const std::string& text, const std::string& finish_reason = "stop");
/// An error in the words of the format that was asked in, with this status.
FakeReply error_reply(int status, const std::string& message, const std::string& type = "error");
/// A body as it is.
FakeReply raw_reply(int status, const std::string& body,
                    const std::string& content_type = "text/html");
FakeReply with_header(FakeReply reply, const std::string& name, const std::string& value);
FakeReply with_fault(FakeReply reply, Fault fault);

} // namespace winnow::tests
