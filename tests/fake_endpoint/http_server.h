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

/// Bytes that are sent in one piece after a pause.
struct Step {
  std::chrono::microseconds wait{0};
  std::string bytes;
  std::function<void(std::string& bytes)> before_write; ///< may be empty; may change the bytes
};

/// An answer, head and body, byte by byte.
struct Response {
  enum class Then { KeepAlive, Close, SaySilence };
  std::function<std::optional<Step>()> next; ///< asked once the last step has been written
  Then then = Then::KeepAlive;
};
Response in_order(std::vector<Step> steps, Response::Then then = Response::Then::KeepAlive);

/// An HTTP/1.1 server on 127.0.0.1 that sends exactly the bytes it is told to, to thousands of
/// connections from one thread.
class HttpServer {
public:
  /// Called on the server's thread; what it throws is answered with HTTP 500.
  using Handler = std::function<Response(const SeenRequest&)>;
  struct Options {
    int port = 0;                           ///< 0: any
    std::string certificate_file, key_file; ///< PEM; empty: no TLS
  };

  /// Throws std::runtime_error when the port or the certificate cannot be used.
  HttpServer(Handler handler, const Options& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete; // owns a thread and its sockets
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::size_t accepted() const; ///< connections so far

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::tests
