#include "tests/fake_endpoint/http_request.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace winnow::tests {
namespace {

constexpr std::size_t kMaxHeadBytes = 1U << 20U;
constexpr std::size_t kMaxBodyBytes = 256U << 20U;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view next_line(std::string_view& head) {
  const std::size_t end = head.find("\r\n");
  const std::string_view line = head.substr(0, end);
  head.remove_prefix(std::min(head.size(), end + 2));
  return line;
}

void set_target(SeenRequest& request, std::string_view target) {
  request.target = target;
  if (const std::size_t scheme = target.find("://"); scheme != std::string_view::npos) {
    const std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  request.path = target.substr(0, target.find('?'));
}

SeenRequest parse_head(std::string_view head) {
  SeenRequest request;
  const std::string_view first = next_line(head);
  const std::size_t method_end = first.find(' ');
  const std::size_t target_end = first.rfind(' ');
  if (method_end == std::string_view::npos || method_end == target_end ||
      first.substr(target_end + 1, 5) != "HTTP/") {
    throw std::runtime_error("no HTTP request line: " + std::string(first.substr(0, 100)));
  }
  request.method = first.substr(0, method_end);
  set_target(request, first.substr(method_end + 1, target_end - method_end - 1));
  while (!head.empty()) {
    const std::string_view line = next_line(head);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      throw std::runtime_error("no HTTP header: " + std::string(line.substr(0, 100)));
    }
    const std::size_t value = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    request.headers.emplace_back(lower(line.substr(0, colon)), line.substr(value));
  }
  return request;
}

std::size_t content_length(const SeenRequest& request) {
  const std::string text = request.header("content-length");
  std::size_t length = 0;
  const char* end = text.data() + text.size();
  if (!text.empty() &&
      (std::from_chars(text.data(), end, length).ptr != end || length > kMaxBodyBytes)) {
    throw std::runtime_error("no usable content-length: " + text);
  }
  return length;
}

} // namespace

std::string SeenRequest::header(const std::string& name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string() : found->second;
}

RequestProgress take_request(std::string& bytes) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string::npos) {
    if (bytes.size() > kMaxHeadBytes) {
      throw std::runtime_error("a request's head of more than a megabyte");
    }
    return {};
  }
  SeenRequest request = parse_head(std::string_view(bytes).substr(0, head_end + 2));
  const std::size_t body = head_end + 4;
  const std::size_t length = content_length(request);
  if (bytes.size() < body + length) {
    const bool waits = lower(request.header("expect")) == "100-continue" && bytes.size() == body;
    return {std::nullopt, waits};
  }
  request.body = bytes.substr(body, length);
  bytes.erase(0, body + length);
  return {std::move(request), false};
}

} // namespace winnow::tests
