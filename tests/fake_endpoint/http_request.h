#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tests {

/// A request as it arrived; header names in lower case.
struct SeenRequest {
  std::string method;
  std::string path;   ///< without the query; of an absolute URL, as proxies get it, the path only
  std::string target; ///< as it came
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string header(const std::string& name) const; ///< empty when absent
};

/// What has arrived of a request.
struct RequestProgress {
  std::optional<SeenRequest> request; ///< once it is whole
  bool expects_continue = false;      ///< its sender waits for "100 Continue" before the body
};

/// Takes a whole request from the front of `bytes`, or nothing. Bodies need a content-length.
/// Throws std::runtime_error for bytes that are no HTTP/1.1 request.
RequestProgress take_request(std::string& bytes);

} // namespace winnow::tests
