#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tests {

/// A request as it arrived. Header names are in lower case.
struct SeenRequest {
  std::string method;
  std::string path;   ///< without the query; of an absolute URL, which proxies get, only the path
  std::string target; ///< unchanged
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string header(const std::string& name) const; ///< empty if absent
};

/// The part of a request that has arrived.
struct RequestProgress {
  std::optional<SeenRequest> request; ///< set when the request is complete
  bool expects_continue = false; ///< the client waits for "100 Continue" before it sends the body
};

/// Removes a complete request from the front of `bytes`; does nothing if none is complete. A body
/// needs a content-length. Throws std::runtime_error if the bytes are not an HTTP/1.1 request.
RequestProgress take_request(std::string& bytes);

} // namespace winnow::tests
