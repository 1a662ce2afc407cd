#pragma once

#include "tests/fake_endpoint/http_request.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::tests {

/// Bytes that are sent together after a pause.
struct Step {
  std::chrono::microseconds wait{0};
  std::string bytes;
  std::function<void(std::string& bytes)> before_write; ///< may be empty; may change the bytes
};

/// An answer: head and body, byte for byte.
struct Response {
  enum class Then { KeepAlive, Close, SaySilence };
  std::function<std::optional<Step>()> next; ///< called after the last step has been written
  Then then = Then::KeepAlive;
};
Response in_order(std::vector<Step> steps, Response::Then then = Response::Then::KeepAlive);

/// An HTTP/1.1 server on 127.0.0.1 that sends exactly the bytes of its handler's responses. One
/// thread serves thousands of connections.
class HttpServer {
public:
  /// Called on the server's thread. If it throws, the answer is HTTP 500.
  using Handler = std::function<Response(const SeenRequest&)>;
  struct Options {
    std::string certificate_file, key_file; ///< PEM; empty: no TLS
  };

  /// Throws std::runtime_error when no port or the certificate cannot be used.
  HttpServer(Handler handler, const Options& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete; // owns a thread and its sockets
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::size_t accepted() const; ///< number of connections accepted so far

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::tests
