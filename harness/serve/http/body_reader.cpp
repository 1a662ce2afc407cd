#include "harness/serve/http/request_head.h"

#include <algorithm>

namespace winnow::harness {
namespace {

constexpr std::size_t kMaxDigits = 15; // of a chunk's size: no sum of sizes overflows

/// -1: no hex digit.
int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/// "Name: text"
bool is_trailer(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && is_field_text(line) &&
         line.substr(0, colon).find_first_of(" \t") == std::string_view::npos;
}

} // namespace

BodyReader::BodyReader(const RequestHead& head, const BodyLimits& limits)
    : limits_(limits), is_chunked_(head.body_end == BodyEnd::Chunks) {
  if (is_chunked_) {
    part_ = Part::Size;
  } else if (head.length > limits_.body_bytes) {
    fail(State::TooLong);
  } else {
    left_ = head.length;
    state_ = left_ == 0 ? State::Done : State::More;
  }
}

BodyReader::State BodyReader::take(std::string_view& bytes) {
  while (state_ == State::More && !bytes.empty()) {
    if (part_ == Part::Data) {
      take_data(bytes);
    } else {
      take_one(bytes.front());
      bytes.remove_prefix(1);
    }
  }
  return state_;
}

void BodyReader::take_data(std::string_view& bytes) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  body_.append(bytes.substr(0, size));
  bytes.remove_prefix(size);
  left_ -= size;
  if (left_ == 0) {
    part_ = Part::DataEnd;
    state_ = is_chunked_ ? State::More : State::Done;
  }
}

void BodyReader::take_one(char c) {
  switch (part_) {
  case Part::Size:
    take_size(c);
    break;
  case Part::Extension:
    take_extension(c);
    break;
  case Part::SizeEnd:
    c == '\n' ? end_size() : fail(State::Malformed);
    break;
  case Part::Data: // take_data() takes it
    break;
  case Part::DataEnd:
    c == '\r' ? void(part_ = Part::DataEndsNext) : fail(State::Malformed);
    break;
  case Part::DataEndsNext:
    c == '\n' ? void(part_ = Part::Size) : fail(State::Malformed);
    break;
  case Part::Trailer:
    take_trailer(c);
    break;
  case Part::TrailerEnd:
    c == '\n' ? end_trailer_line() : fail(State::Malformed);
    break;
  }
}

void BodyReader::take_size(char c) {
  if (const int digit = hex_value(c); digit >= 0) {
    left_ = left_ * 16 + static_cast<unsigned>(digit);
    if (++digits_ > kMaxDigits) {
      fail(State::Malformed);
    } else if (left_ > limits_.body_bytes - body_.size()) {
      fail(State::TooLong);
    }
  } else if (digits_ > 0 && c == '\r') {
    part_ = Part::SizeEnd;
  } else if (digits_ > 0 && c == ';') {
    part_ = Part::Extension;
    take_extension(c);
  } else {
    fail(State::Malformed);
  }
}

void BodyReader::take_extension(char c) {
  if (c == '\r') {
    part_ = Part::SizeEnd;
  } else if (!is_field_text({&c, 1})) {
    fail(State::Malformed);
  } else if (++extensions_ > limits_.extension_bytes) {
    fail(State::TooMuchAround);
  }
}

void BodyReader::end_size() {
  digits_ = 0;
  part_ = left_ == 0 ? Part::Trailer : Part::Data;
}

void BodyReader::take_trailer(char c) {
  if (c == '\r') {
    part_ = Part::TrailerEnd;
  } else if (++trailers_ > limits_.trailer_bytes) {
    fail(State::TooMuchAround);
  } else {
    line_ += c;
  }
}

void BodyReader::end_trailer_line() {
  if (line_.empty()) {
    state_ = State::Done;
  } else if (!is_trailer(line_)) {
    fail(State::Malformed);
  }
  line_.clear();
  part_ = Part::Trailer;
}

} // namespace winnow::harness
