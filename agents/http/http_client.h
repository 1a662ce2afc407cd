#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::agents {

struct HttpLimits {
  std::size_t parallel = 4; ///< requests in flight; the others wait in line
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds total_timeout{600'000};
  std::chrono::milliseconds stall_timeout{60'000}; ///< without a byte, once the answer has begun
  std::size_t max_body_bytes = 64U << 20U;
};

/// A POST. Redirects are not followed: headers carry keys that belong to one host.
struct HttpRequest {
  std::string url;
  std::vector<std::string> headers; ///< "Name: value"
  std::string body;
};

/// How one attempt of a request ended.
struct HttpResult {
  enum class End : std::uint8_t {
    Answered,  ///< with any status
    Transport, ///< no complete answer: `error` says why
    TooLarge,  ///< the body exceeds max_body_bytes
    Cancelled,
  };
  End end = End::Transport;
  long status = 0;
  std::map<std::string, std::string> headers; ///< names in lower case; the last of equals counts
  std::string body;
  std::string error;
  double seconds = 0;
  int attempt = 1; ///< counts from 1
};

/// Drives all its requests on one thread of its own (libcurl's multi interface). Proxies and
/// certificate authorities are libcurl's defaults. Must not be destroyed from a callback.
class HttpClient {
public:
  /// Called on the client's thread after each attempt. A delay asks for another attempt after it;
  /// nullopt ends the request. Called once more with Cancelled when cancelled; then the answer is
  /// ignored.
  using OnResult = std::function<std::optional<std::chrono::milliseconds>(HttpResult result)>;

  explicit HttpClient(const HttpLimits& limits);
  ~HttpClient();                          ///< cancels what is left
  HttpClient(const HttpClient&) = delete; // owns a thread and its connections
  HttpClient& operator=(const HttpClient&) = delete;

  /// From any thread, also from a callback; returns at once.
  void post(HttpRequest request, OnResult on_result);
  /// Everything posted so far ends with Cancelled, in flight or not.
  void cancel_all();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::agents
