#pragma once

#include "harness/serve/exchange.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace winnow::harness {

/// Where the body of a request ends.
enum class BodyEnd : std::uint8_t { None, Length, Chunks };

struct RequestHead {
  HttpRequest request; ///< without the body
  BodyEnd body_end = BodyEnd::None;
  std::uint64_t length = 0; ///< of BodyEnd::Length
  bool keep_alive = true;
  bool expects_continue = false; ///< the client waits for "100 Continue"
};

/// Why a header is refused. `error` has no quotes.
struct HeadProblem {
  int status = 400;
  std::string error;
};

/// Reads a request line and its fields. `text` ends with the empty line. Strict, because a proxy in
/// front of the server must not see another end of the request: a field of more than one line, a
/// field that comes twice, or a line end other than CRLF is refused. Every `Transfer-Encoding`
/// except one `chunked` without `Content-Length` has the status 501.
std::variant<RequestHead, HeadProblem> parse_request_head(std::string_view text);

/// Whether each character may stand in the value of a field.
bool is_field_text(std::string_view text);

} // namespace winnow::harness
