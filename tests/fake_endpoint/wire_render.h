#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/question.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tests {

/// At the end of a text, this mark is replaced by the time of its writing. It is never split.
constexpr std::string_view kClockMark = "@MONOTONIC-CLOCK-NS@";
/// Replaced by bytes that are not UTF-8, which JSON libraries refuse to write.
constexpr std::string_view kInvalidUtf8Mark = "@INVALID-UTF-8@";

/// The answer as one JSON document, in the format of `question`.
std::string answer_body(const Question& question, const Answer& answer);
std::string error_body(Wire wire, const FakeError& error);

struct StreamEvent {
  enum class Part { Opening, Token, Closing };
  Part part = Part::Token;
  std::string name;            ///< empty: no "event:" line
  std::string data;            ///< one line
  std::optional<Usage> states; ///< the number of tokens used so far that the event reports
};
std::vector<StreamEvent> answer_stream(const Question& question, const Answer& answer,
                                       std::size_t piece_bytes);
/// The event that ends a failing stream.
StreamEvent error_event(Wire wire, const FakeError& error);

/// `text` in pieces of at least `piece_bytes`. No character is cut.
std::vector<std::string> pieces_of(const std::string& text, std::size_t piece_bytes);

} // namespace winnow::tests
