#pragma once

#include "harness/serve/http/http_server.h"
#include "harness/serve/http/socket_file.h"
#include "harness/serve/http/work_queue.h"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility> // asio of Boost 1.74 needs this header and does not include it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace winnow::harness {

class Connection;

/// What the connections of a server share: the bounds, and what is used of them. Used on the
/// network's thread only.
class ServerState {
public:
  using Buffer = std::shared_ptr<const std::string>;

  ServerState(HttpApplication& served, const HttpLimits& bounds);
  ServerState(const ServerState&) = delete; // connections refer to it
  ServerState& operator=(const ServerState&) = delete;

  /// A new connection. If there are too many strangers, closes the oldest.
  void add_stranger(Connection& connection);
  /// False: the owner has all connections that it may have.
  bool admit(Connection& connection, const std::string& owner);
  void remove(Connection& connection);
  /// nullopt: the bodies that are being read leave no room.
  std::optional<BodyReservation> reserve_body(const std::string& owner, std::size_t bytes);
  /// A connection begins to hold an answer, or has sent it.
  void hold(const Buffer& bytes);
  void release(const Buffer& bytes);
  /// Closes the connections whose readers are slowest until the answers fit.
  void bound_answers();
  /// Closes the connections whose time is over, and those of clients that have gone.
  void close_late();

  // The members before the contexts outlive the connections, which these destroy.
  HttpApplication& application;
  HttpLimits limits;
  bool stopping = false;
  bool has_ended = false; ///< the application keeps no exchange any more. Used on its thread

private:
  friend class BodyReservation;
  struct Owner {
    std::size_t connections = 0, bodies_bytes = 0;
  };
  void handle(WorkQueue::Request request);
  void release_body(const std::string& owner, std::size_t bytes);
  void forget_idle(const std::string& owner);
  std::size_t share_of(std::size_t all) const;

  std::list<Connection*> strangers_; ///< the oldest first
  std::list<Connection*> admitted_;
  std::map<std::string, Owner> owners_; ///< with a connection or a body
  std::size_t bodies_bytes_ = 0, unsent_bytes_ = 0;
  std::map<const std::string*, std::size_t> answers_; ///< by how many connections hold them

public:
  boost::asio::io_context io{1};   ///< the network's thread
  boost::asio::io_context work{1}; ///< the application's thread
  WorkQueue queue{work, [this](WorkQueue::Request request) { handle(std::move(request)); }};
  boost::asio::ip::tcp::acceptor acceptor{io}; ///< not open: nobody listens at an address
  std::optional<SocketFile> socket_file;       ///< nullopt: nor at a path
  boost::asio::steady_timer sweeper{io}, ticker{work};
};

} // namespace winnow::harness
