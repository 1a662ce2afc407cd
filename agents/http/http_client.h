#pragma once

#include "agents/http/gate.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// How requests to one endpoint are sent.
struct HttpOptions {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds first_token_timeout{300'000}; ///< streamed answers only
  std::chrono::milliseconds stall_timeout{60'000}; ///< without a byte, once the answer has begun
  std::chrono::milliseconds total_timeout{600'000};
  std::size_t max_body_bytes = 64U << 20U;
  std::string proxy;   ///< empty: HTTPS_PROXY, NO_PROXY, ... as libcurl reads them
  std::string ca_file; ///< PEM; empty: the system's
};

/// A POST. Redirects are not followed: headers carry keys that belong to one host.
struct HttpRequest {
  std::string url;
  std::vector<std::string> headers; ///< "Name: value"
  std::string body;
  std::int64_t tokens = 0; ///< about what it will use, for limits on tokens a minute
  /// Takes the body of a 2xx answer as it comes and returns whether a token has come so far; told
  /// nothing of other answers. Called on the client's thread. None: the body is collected.
  std::function<bool(std::string_view bytes)> on_bytes;
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
  std::string body;                           ///< empty where on_bytes took it
  std::string error;
  bool trusted = true; ///< false: the server's certificate does not verify, so waiting is no use
  double seconds = 0;
  std::optional<double> first_token_seconds;
  int attempt = 1; ///< counts from 1
};

/// Drives the requests of any number of endpoints on one thread of its own (libcurl's multi socket
/// interface over epoll). Must not be destroyed from a callback.
class HttpClient {
public:
  /// Called on the client's thread after each attempt. A delay asks for another attempt after it;
  /// nullopt ends the request. Called once more with Cancelled when cancelled; then the answer is
  /// ignored.
  using OnResult = std::function<std::optional<std::chrono::milliseconds>(HttpResult result)>;
  /// One endpoint's requests: they wait in line until its gate lets them through.
  using LaneId = std::size_t;

  HttpClient();
  ~HttpClient();                          ///< cancels what is left
  HttpClient(const HttpClient&) = delete; // owns a thread and its connections
  HttpClient& operator=(const HttpClient&) = delete;

  /// The gate is called on the client's thread only and must outlive the lane's last request.
  LaneId add_lane(const HttpOptions& options, Gate& gate);
  /// From any thread, also from a callback; returns at once.
  void post(LaneId lane, HttpRequest request, OnResult on_result);
  /// Everything posted to the lane so far ends with Cancelled, in flight or not.
  void cancel_all(LaneId lane);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::agents
