#pragma once

#include "agents/model/model_request.h"
#include "agents/money/usage.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tests {

using agents::Usage;

/// A model's answer, in a form that does not depend on the wire format.
struct Answer {
  std::string text;
  std::string reasoning;
  /// "stop", "length", "content_filter", "tool_calls" or "refusal". For "refusal", `text` is the
  /// refusal.
  std::string finish = "stop";
  Usage usage{10, 4, 5, 2, 0};
  /// Reported by the endpoint itself, as OpenRouter does (chat only).
  std::optional<double> dollars;
  std::string model = "fake-model";
};

/// An error. Each format has its own form for it.
struct FakeError {
  int status = 500; ///< status in the body; the HTTP status is in FakeReply
  std::string message;
  std::string type = "error"; ///< the word of OpenAI and Anthropic
  std::string code;           ///< OpenAI's code; empty: null
  std::string retry_delay;    ///< Gemini's RetryInfo: "22s"; empty: absent
  std::string quota_id;       ///< Gemini's QuotaFailure; empty: absent
};

/// The timing and the layout of an answer's bytes. The content of the answer stays the same.
struct Delivery {
  std::chrono::microseconds first_byte{0};  ///< pause before the head
  std::chrono::microseconds first_token{0}; ///< pause after the opening events of a stream
  std::chrono::microseconds between{0};     ///< pause between two pieces of a stream's text
  std::size_t piece_bytes = 16;             ///< minimum text per event; characters are never cut
  std::size_t segment_bytes = 0; ///< size of TCP segments, cut anywhere; 0: one segment per event
  bool crlf = false;             ///< end lines of the stream with CRLF
  bool comments = false;         ///< send comments and pings between events
  bool multi_line = false;       ///< distribute the data of an event over several "data:" lines
  /// Puts the time of its writing (CLOCK_MONOTONIC, ns, 20 digits) into the last piece of text, and
  /// writes everything after it together with it. Cannot be combined with segment_bytes.
  bool stamp = false;
};

/// One scripted reply: `answer` or `error` in the format of the request, else
/// `body` as it is.
struct FakeReply {
  /// A fault during the transfer.
  enum class Fault {
    None,
    NeverAnswer,     ///< accepts the request and sends nothing until the server ends
    CloseAtOnce,     ///< closes the connection without a byte
    SilentAfterHead, ///< answers HTTP 200, opens a stream, sends no token and then nothing
    CloseMidBody,    ///< half of a stream, or a body that is one byte too short, then closes
    StallMidBody,    ///< the same bytes, then nothing until the server ends
    EndEarly,        ///< a proper HTTP end after half of the stream's tokens or of the body
    /// Half of a stream, then the format's error event. Unstreamed: an error with HTTP 200.
    ErrorMidStream,
    EndlessText,  ///< tokens without end
    EndlessPings, ///< comments and pings (unstreamed: white space) without end, never a token
    ShortLength,  ///< a content-length of half the body
  };

  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Fault fault = Fault::None;
  std::optional<Answer> answer; ///< streamed if the request asks for a stream
  std::optional<FakeError> error;
  Delivery delivery;
};

using Fault = FakeReply::Fault;

/// An answer with this text. Usage: 10 prompt tokens (4 cached), 5 completion tokens (2 reasoning).
FakeReply chat_reply(const std::string& text, const std::string& finish_reason = "stop");
/// An error with this status, in the format of the request.
FakeReply error_reply(int status, const std::string& message, const std::string& type = "error");
/// A body that is sent unchanged.
FakeReply raw_reply(int status, const std::string& body,
                    const std::string& content_type = "text/html");
FakeReply with_header(FakeReply reply, const std::string& name, const std::string& value);
FakeReply with_fault(FakeReply reply, Fault fault);

} // namespace winnow::tests
