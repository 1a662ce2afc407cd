#include "harness/serve/http/server_state.h"

#include "harness/serve/http/connection.h"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace winnow::harness {

BodyReservation::~BodyReservation() {
  if (state_ != nullptr) {
    state_->release_body(owner_, bytes_);
  }
}

ServerState::ServerState(HttpApplication& served, const HttpLimits& bounds)
    : application(served), limits(bounds) {}

void ServerState::add_stranger(Connection& connection) {
  while (strangers_.size() >= std::max<std::size_t>(limits.strangers, 1)) {
    strangers_.front()->close(); // calls remove()
  }
  strangers_.push_back(&connection);
}

std::size_t ServerState::share_of(std::size_t all) const {
  return static_cast<std::size_t>(static_cast<double>(all) * limits.owner_share);
}

/// The answer may be sent, and the next request of the connection be read, before handle() returns:
/// the room for the body stays with its own request.
void ServerState::handle(WorkQueue::Request request) {
  if (has_ended) {
    request.exchange->reply(error_reply(503, "the server stops", "", 1));
  } else {
    if (request.exchange->request().method != "POST") {
      request.exchange->take_body(); // of no use, and the request may wait for long
    }
    application.handle(std::exchange(request.exchange, nullptr));
  }
  boost::asio::post(io, [body = std::move(request.body)] {});
}

bool ServerState::admit(Connection& connection, const std::string& owner) {
  if (connection.is_admitted() && connection.owner() == owner) {
    return true;
  }
  const std::size_t all = admitted_.size() - (connection.is_admitted() ? 1 : 0);
  const auto known = owners_.find(owner);
  const std::size_t own = known == owners_.end() ? 0 : known->second.connections;
  if (all >= limits.connections || own >= share_of(limits.connections)) {
    return false;
  }
  remove(connection);
  connection.set_owner(owner);
  admitted_.push_back(&connection);
  ++owners_[owner].connections;
  return true;
}

void ServerState::remove(Connection& connection) {
  if (connection.is_admitted() && admitted_.remove(&connection) > 0) {
    --owners_[connection.owner()].connections;
    forget_idle(connection.owner());
  }
  strangers_.remove(&connection);
}

void ServerState::forget_idle(const std::string& owner) {
  const auto known = owners_.find(owner);
  if (known != owners_.end() && known->second.connections == 0 && known->second.bodies_bytes == 0) {
    owners_.erase(known);
  }
}

std::optional<BodyReservation> ServerState::reserve_body(const std::string& owner,
                                                         std::size_t bytes) {
  const auto known = owners_.find(owner);
  const std::size_t own = known == owners_.end() ? 0 : known->second.bodies_bytes;
  // One body fits into any share, or its owner could never send it.
  const std::size_t share = std::max(share_of(limits.all_bodies_bytes), limits.body.body_bytes);
  if (bodies_bytes_ + bytes > limits.all_bodies_bytes || own + bytes > share) {
    return std::nullopt;
  }
  bodies_bytes_ += bytes;
  owners_[owner].bodies_bytes += bytes;
  return BodyReservation(*this, owner, bytes);
}

void ServerState::release_body(const std::string& owner, std::size_t bytes) {
  bodies_bytes_ -= bytes;
  owners_[owner].bodies_bytes -= bytes;
  forget_idle(owner);
}

void ServerState::hold(const Buffer& bytes) {
  if (++answers_[bytes.get()] == 1) {
    unsent_bytes_ += bytes->size();
  }
}

void ServerState::release(const Buffer& bytes) {
  const auto held = answers_.find(bytes.get());
  if (--held->second == 0) {
    unsent_bytes_ -= bytes->size();
    answers_.erase(held);
  }
}

void ServerState::bound_answers() {
  while (unsent_bytes_ > limits.all_unsent_bytes) {
    Connection* slowest = nullptr;
    for (const auto* list : {&strangers_, &admitted_}) {
      for (Connection* one : *list) {
        if (one->is_sending() && (slowest == nullptr || one->deadline() < slowest->deadline())) {
          slowest = one;
        }
      }
    }
    if (slowest == nullptr) {
      return;
    }
    slowest->close();
  }
}

void ServerState::close_late() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<Connection*> late;
  for (const auto* list : {&strangers_, &admitted_}) {
    std::copy_if(list->begin(), list->end(), std::back_inserter(late),
                 [&](Connection* one) { return one->deadline() <= now || one->has_gone(); });
  }
  for (Connection* connection : late) {
    connection->close();
  }
}

} // namespace winnow::harness
