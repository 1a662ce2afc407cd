#pragma once

#include "harness/serve/exchange.h"
#include "harness/serve/http/request_head.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace winnow::harness {

/// Where a server listens.
struct BindAddress {
  std::string address;     ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;  ///< 0: any free port
  bool is_loopback = true; ///< only programs of this machine can connect
};
/// "127.0.0.1:8787", "localhost:0", "[::1]:8787", "0.0.0.0:8787". Throws UsageError; names of hosts
/// other than localhost are not looked up.
BindAddress parse_bind_address(std::string_view text);

struct Listening {
  std::optional<BindAddress> bind;
  std::filesystem::path socket = {}; ///< empty: none
};

/// All that a peer can make the server hold. A connection is a stranger until it has sent the
/// header of a request that HttpApplication::admit() lets in; then it is admitted. Each time is one
/// of the wall clock: no byte renews it.
struct HttpLimits {
  std::size_t header_bytes = std::size_t{16} << 10U;
  BodyLimits body = {};
  std::size_t all_bodies_bytes = std::size_t{512} << 20U; ///< of requests not yet handled
  std::size_t unsent_bytes = std::size_t{32} << 20U;      ///< of one answer in lines
  /// Of all answers; a page counts once. The slowest readers are closed.
  std::size_t all_unsent_bytes = std::size_t{256} << 20U;
  std::size_t connections = 2048; ///< that are admitted
  std::size_t strangers = 512;    ///< the oldest gives its place to a new one
  /// The part of `connections` and of `all_bodies_bytes` that one owner may have.
  double owner_share = 1;
  std::chrono::milliseconds stranger_time{10'000}; ///< of a stranger, with its answer
  std::chrono::milliseconds body_time{30'000};     ///< to send a whole body
  std::chrono::milliseconds write_time{30'000}; ///< to take a whole answer, or the lines that wait
  std::chrono::milliseconds lines_time{3'600'000}; ///< of an answer in lines
  std::chrono::milliseconds idle_time{75'000};     ///< from an answer to the end of the next header
  std::chrono::milliseconds drain_time{2'000};     ///< from an answer to the end of a connection
};

/// An HTTP/1.1 server. One thread serves all connections, another one runs the application.
class HttpServer {
public:
  /// Listens at once, at an address, at the path of a Unix socket (http/socket_file.h) or at both.
  /// Throws Error if the address is taken or not of this machine, and as SocketFile.
  HttpServer(const Listening& listening, HttpApplication& application,
             const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete; // owns sockets
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const; ///< of the address
  /// Serves on this thread until stop(). Rethrows what a function of the application has thrown.
  void run();
  /// Accepts no more connections, calls HttpApplication::end(), and ends run() soon. Any thread.
  void stop();
  /// Lets the application's thread do `work` of the server itself soon. Any thread.
  void post(std::function<void()> work);
  /// InTurn. Any thread.
  void post(const std::string& owner, std::function<void()> work, Turn turn);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace winnow::harness
