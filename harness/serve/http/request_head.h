#pragma once

#include "harness/serve/exchange.h"

#include <cstddef>
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

/// What a client may send for one body. All are sums over the body.
struct BodyLimits {
  std::size_t body_bytes = std::size_t{64} << 20U;
  std::size_t extension_bytes = std::size_t{4} << 10U; ///< behind the sizes of chunks
  std::size_t trailer_bytes = std::size_t{8} << 10U;   ///< fields behind the last chunk
};

/// Takes a body out of the bytes of a connection, however they are cut. Extensions and trailers are
/// checked and not kept. A body that begins is within BodyLimits, whatever is still to come.
class BodyReader {
public:
  enum class State : std::uint8_t {
    More, ///< the body goes on
    Done,
    Malformed,
    TooLong,      ///< more than body_bytes
    TooMuchAround ///< more extensions or trailers than allowed
  };
  BodyReader(const RequestHead& head, const BodyLimits& limits);

  /// Removes from the front of `bytes` what belongs to the body. Nothing after another state than
  /// More.
  State take(std::string_view& bytes);
  State state() const { return state_; }
  std::string& body() { return body_; }

private:
  enum class Part : std::uint8_t {
    Size,
    Extension,
    SizeEnd,
    Data,
    DataEnd,
    DataEndsNext, ///< the second character of the line's end
    Trailer,
    TrailerEnd
  };

  void take_data(std::string_view& bytes);
  void take_one(char c);
  void take_size(char c);
  void take_extension(char c);
  void end_size();
  void take_trailer(char c);
  void end_trailer_line();
  void fail(State state) { state_ = state; }

  BodyLimits limits_;
  bool is_chunked_;
  State state_ = State::More;
  Part part_ = Part::Data;
  std::uint64_t left_ = 0; ///< bytes of the body, or of the chunk
  std::size_t digits_ = 0; ///< of the chunk's size
  std::size_t extensions_ = 0;
  std::size_t trailers_ = 0; ///< bytes, as `extensions_`
  std::string line_;         ///< of the trailers
  std::string body_;
};

} // namespace winnow::harness
