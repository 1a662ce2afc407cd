#pragma once

#include "harness/serve/http/request_head.h"
#include "harness/serve/http/server_state.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>

namespace winnow::harness {

/// Reads a request, waits for its answer, writes the answer, and begins again. All functions but
/// is_alive() run on the network's thread.
class Connection : public std::enable_shared_from_this<Connection> {
public:
  using Time = std::chrono::steady_clock::time_point;

  using Socket = boost::asio::generic::stream_protocol::socket; ///< TCP or Unix

  Connection(ServerState& state, Socket socket);
  ~Connection();
  Connection(const Connection&) = delete; // owns a socket
  Connection& operator=(const Connection&) = delete;

  void begin(); ///< once, after the constructor
  void close();

  // The answer. A connection that is closed ignores it.
  void send(HttpReply reply);
  void begin_lines();
  void add_line(const std::string& line);
  void end_lines();
  void abandon(); ///< nobody will answer the request

  bool is_alive() const { return alive_; } ///< any thread
  bool is_sending() const { return !out_.empty(); }
  bool is_head() const { return is_head_; } ///< of the request that is being handled
  bool is_admitted() const { return owner_.has_value(); }
  const std::string& owner() const { return *owner_; }
  void set_owner(const std::string& owner) { owner_ = owner; }
  Time deadline() const { return deadline_; } ///< the end of what it is doing
  /// Whether the client has closed the connection while its request waits. For one that has sent
  /// the next request early; watch() sees the others.
  bool has_gone();
  ServerState& state() const { return state_; }

private:
  enum class Read : std::uint8_t { Head, Body, Rest };

  void read_head();
  void read_some(Read what);
  void on_read(Read what);
  void take_head(std::string_view text);
  void answer_head(HttpReply reply);
  void begin_body();
  void read_body();
  void refuse_body();
  void hand_over();
  void drop_body();
  void watch();
  void look();
  void refuse(HttpReply reply);
  void refuse(int status, const std::string& error, int retry_after_s = 0);

  void push(ServerState::Buffer bytes);
  void push(std::string bytes) { push(std::make_shared<const std::string>(std::move(bytes))); }
  void finish();
  void write();
  void on_written(bool failed);
  void next();
  void drop_answer();
  /// No stranger gets more time than it began with.
  void allow(std::chrono::milliseconds time);

  ServerState& state_;
  Socket socket_;
  std::optional<std::string> owner_; ///< nullopt: a stranger
  Time deadline_, lines_end_ = Time::max();
  std::string in_;          ///< bytes that no request has taken
  std::size_t scanned_ = 0; ///< of `in_`: no header ends there
  RequestHead head_;
  std::optional<BodyReader> body_;
  std::deque<ServerState::Buffer> out_;
  std::size_t unsent_ = 0;
  BodyReservation reservation_; ///< for `body_`
  std::size_t drained_ = 0;
  bool keep_alive_ = false;
  bool is_head_ = false;  ///< a HEAD is handled as a GET, and its answer has no body
  bool is_early_ = false; ///< bytes of the next request have come
  bool waits_ = false;    ///< a request has been read, and its answer is not complete
  bool watches_ = false;  ///< watch() is under way, perhaps for an earlier request
  bool writing_ = false;
  bool finishes_ = false; ///< the answer is complete when `out_` is empty
  std::atomic<bool> alive_{true};
};

/// The request of a connection, for the application's thread. Passes each part of the answer to the
/// network's thread.
std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request);

} // namespace winnow::harness
