#include "harness/serve/http/request_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace winnow::harness;

namespace {

constexpr BodyLimits kLimits{.body_bytes = 64, .extension_bytes = 16, .trailer_bytes = 32};

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

struct Outcome {
  BodyReader::State state = BodyReader::State::More;
  std::string body;
  std::size_t rest = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome read_in_pieces(const RequestHead& head, std::string_view text, std::size_t piece) {
  BodyReader reader(head, kLimits);
  while (!text.empty() && reader.state() == BodyReader::State::More) {
    std::string_view bytes = text.substr(0, piece);
    const std::size_t all = bytes.size();
    reader.take(bytes);
    text.remove_prefix(all - bytes.size());
    require(reader.body().size() <= kLimits.body_bytes);
  }
  return {reader.state(), reader.body(), text.size()};
}

/// However the bytes are cut, the body is the same, and within its bounds.
void check_body(const RequestHead& head, std::string_view text, std::size_t piece) {
  require(read_in_pieces(head, text, piece) == read_in_pieces(head, text, text.size() + 1));
}

} // namespace

// A whole request: the first byte says how its body is cut. A body without a header comes in
// chunks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::size_t piece = std::size_t{data[0]} % 16 + 1;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  RequestHead chunks;
  chunks.body_end = BodyEnd::Chunks;
  check_body(chunks, text, piece);
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = text.find(kEnd);
  if (end == std::string_view::npos) {
    return 0;
  }
  const auto parsed = parse_request_head(text.substr(0, end + kEnd.size()));
  if (const RequestHead* head = std::get_if<RequestHead>(&parsed)) {
    require(is_field_text(head->request.authorization) && is_field_text(head->request.host));
    check_body(*head, text.substr(end + kEnd.size()), piece);
  } else {
    const HeadProblem& problem = std::get<HeadProblem>(parsed);
    require(problem.status >= 400 && problem.error.find('"') == std::string::npos);
  }
  return 0;
}
