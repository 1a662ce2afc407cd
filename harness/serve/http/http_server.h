#pragma once

#include "harness/serve/bind_address.h"
#include "harness/serve/exchange.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace winnow::harness {

struct HttpLimits {
  std::size_t body_bytes = std::size_t{64} << 20U;
  std::size_t all_bodies_bytes = std::size_t{512} << 20U; ///< of the requests that are being read
  std::size_t header_bytes = std::size_t{16} << 10U;
  std::size_t connections = 2048;
  std::size_t unsent_bytes = std::size_t{32} << 20U; ///< lines that a client has not taken yet
  std::chrono::milliseconds body_time{30'000};       ///< to send a whole body
  std::chrono::milliseconds write_time{30'000};      ///< to take a whole reply
  std::chrono::milliseconds idle_time{75'000};       ///< for a connection without a request
};

/// An HTTP/1.1 server. One thread serves all connections.
class HttpServer {
public:
  /// Listens at once. Throws Error if the address is taken or not of this machine.
  HttpServer(const BindAddress& bind, HttpApplication& application, const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete; // owns sockets
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  void run(); ///< serves on this thread until stop()
  /// Accepts no more connections, calls HttpApplication::end(), and ends run() soon. Any thread.
  void stop();
  /// Lets the thread of run() do `work`. Any thread.
  void post(std::function<void()> work);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::harness
