#pragma once

#include "harness/serve/exchange.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility> // asio of Boost 1.74 needs this header and does not include it

#include <boost/asio/io_context.hpp>

namespace winnow::harness {

class ServerState;

/// Room for a body, until it is destroyed. Used and destroyed on the network's thread; other
/// threads may only pass it on.
class BodyReservation {
public:
  BodyReservation() = default; ///< no room
  BodyReservation(ServerState& state, std::string owner, std::size_t bytes)
      : state_(&state), owner_(std::move(owner)), bytes_(bytes) {}
  BodyReservation(BodyReservation&& other) noexcept { swap(other); }
  BodyReservation& operator=(BodyReservation&& other) noexcept {
    BodyReservation(std::move(other)).swap(*this); // frees what this one had
    return *this;
  }
  ~BodyReservation();

private:
  void swap(BodyReservation& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(owner_, other.owner_);
    std::swap(bytes_, other.bytes_);
  }
  ServerState* state_ = nullptr;
  std::string owner_;
  std::size_t bytes_ = 0;
};

/// What waits for the application's thread. The owners take turns: one request of each, or one
/// piece of work that a request has left, so that an owner with many of them does not keep the
/// others waiting. The server's own work, such as results of judgements, goes before every turn,
/// one piece of it: results that come without end keep nobody waiting either. Any thread may push.
class WorkQueue {
public:
  using Work = std::function<void()>;
  struct Request {
    std::shared_ptr<Exchange> exchange;
    BodyReservation body;
  };
  /// `handle` runs on the thread of `work`.
  WorkQueue(boost::asio::io_context& work, std::function<void(Request)> handle);
  WorkQueue(const WorkQueue&) = delete; // the context refers to it
  WorkQueue& operator=(const WorkQueue&) = delete;

  void push(Work own_work);
  void push(const std::string& owner, Request request);
  void push(const std::string& owner, Work work, Turn turn);

private:
  struct Piece {
    Request request;
    Work work = {}; ///< instead of a request
  };
  void begin(); ///< with `mutex_`
  void work_once();
  Piece pop_piece();

  boost::asio::io_context& work_;
  std::function<void(Request)> handle_;
  std::mutex mutex_; ///< guards what follows
  std::deque<Work> own_work_;
  std::map<std::string, std::deque<Piece>> pieces_; ///< by owner; none is empty
  std::string last_;                                ///< the owner of the last piece
  bool was_own_ = false;                            ///< the last piece was the server's
  bool has_begun_ = false;                          ///< work_once() is posted, or runs
};

} // namespace winnow::harness
