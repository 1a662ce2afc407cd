#include "base/json_dump.h"
#include "harness/serve/exchange.h"
#include "harness/serve/http/connection.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

// The part of Connection that writes answers, and the exchange that answers through it.
namespace winnow::harness {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;

} // namespace

/// Answers and closes, because the rest of the request was not read.
void Connection::refuse(HttpReply reply) {
  keep_alive_ = false;
  send(std::move(reply));
}

void Connection::refuse(int status, const std::string& error, int retry_after_s) {
  refuse(error_reply(status, error, "", retry_after_s));
}

void Connection::send(HttpReply reply) {
  waits_ = false;
  drop_body();
  const ServerState::Buffer body =
      reply.page ? reply.page : std::make_shared<const std::string>(std::move(reply.body));
  push(head_of(reply, fmt::format("Content-Length: {}", body->size()), keep_alive_));
  if (!is_head_) {
    push(body);
  }
  finish();
}

void Connection::begin_lines() {
  lines_end_ = steady_clock::now() + state_.limits.lines_time;
  push(head_of({200, {}, "application/x-ndjson"}, "Transfer-Encoding: chunked", keep_alive_));
  write();
}

void Connection::add_line(const std::string& line) {
  push(fmt::format("{:x}\r\n{}\n\r\n", line.size() + 1, line));
  if (unsent_ > state_.limits.unsent_bytes || steady_clock::now() > lines_end_) {
    close();
  }
  write();
}

void Connection::end_lines() {
  waits_ = false;
  if (!is_head_) {
    push(std::string("0\r\n\r\n"));
  }
  finish();
}

void Connection::abandon() {
  if (waits_) {
    close();
  }
}

void Connection::push(ServerState::Buffer bytes) {
  if (!alive_ || bytes->empty()) {
    return;
  }
  // Bytes that go out while the request waits have a time of their own.
  if ((out_.empty() || deadline_ == Time::max()) && !body_) {
    allow(state_.limits.write_time);
  }
  unsent_ += bytes->size();
  state_.hold(bytes);
  out_.push_back(std::move(bytes));
  state_.bound_answers();
}

void Connection::finish() {
  finishes_ = true;
  write();
}

void Connection::write() {
  if (writing_ || !alive_) {
    return;
  }
  if (out_.empty()) {
    if (std::exchange(finishes_, false)) {
      next();
    } else if (waits_) {
      deadline_ = Time::max();
    }
    return;
  }
  writing_ = true;
  boost::asio::async_write(
      socket_, boost::asio::buffer(*out_.front()),
      [self = shared_from_this(), sent = out_.front()](error_code error, std::size_t) {
        self->on_written(static_cast<bool>(error));
      });
}

void Connection::on_written(bool failed) {
  writing_ = false;
  if (failed || !alive_) {
    close();
    return;
  }
  unsent_ -= out_.front()->size();
  state_.release(out_.front());
  out_.pop_front();
  write();
}

void Connection::drop_answer() {
  for (const ServerState::Buffer& bytes : out_) {
    state_.release(bytes);
  }
  out_.clear();
  unsent_ = 0;
}

void Connection::next() {
  if (keep_alive_ && !state_.stopping) {
    allow(state_.limits.idle_time);
    read_head();
    return;
  }
  deadline_ = std::min(deadline_, steady_clock::now() + state_.limits.drain_time);
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  in_.clear();
  read_some(Read::Rest);
}

HttpReply error_reply(int status, const std::string& error, const std::string& remedy,
                      int retry_after_s) {
  nlohmann::json body = {{"error", error}};
  if (!remedy.empty()) {
    body["remedy"] = remedy;
  }
  return {status, json_line(body) + "\n", "application/json", retry_after_s};
}

std::string head_of(const HttpReply& reply, const std::string& length, bool keep_alive) {
  const auto status = static_cast<boost::beast::http::status>(reply.status);
  const auto reason = boost::beast::http::obsolete_reason(status);
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n{}\r\nCache-Control: no-store\r\n"
                  "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                  "Content-Security-Policy: frame-ancestors 'none'\r\nConnection: {}\r\n",
                  reply.status, std::string_view(reason.data(), reason.size()), reply.type, length,
                  keep_alive ? "keep-alive" : "close");
  if (reply.retry_after_s > 0) {
    head += fmt::format("Retry-After: {}\r\n", reply.retry_after_s);
  }
  if (reply.asks_for_password) {
    head += "WWW-Authenticate: Basic realm=\"winnow\", charset=\"UTF-8\"\r\n";
  }
  return head + "\r\n";
}

namespace {

class ConnectionExchange : public Exchange {
public:
  ConnectionExchange(std::shared_ptr<Connection> connection, HttpRequest request)
      : connection_(std::move(connection)), request_(std::move(request)),
        is_head_(connection_->is_head()) {}
  ~ConnectionExchange() override {
    finish([](Connection& connection) { connection.abandon(); });
  }
  const HttpRequest& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  bool is_open() const override { return connection_ && connection_->is_alive(); }
  void reply(HttpReply reply) override {
    if (has_lines_) {
      finish([](Connection& connection) { connection.abandon(); });
      return;
    }
    finish([reply = std::move(reply)](Connection& connection) mutable {
      connection.send(std::move(reply));
    });
  }
  void begin_lines() override {
    has_lines_ = true;
    if (is_head_) { // its answer is the header alone, and no line will bound its time
      finish([](Connection& connection) {
        connection.begin_lines();
        connection.end_lines();
      });
      return;
    }
    go_on([](Connection& connection) { connection.begin_lines(); });
  }
  void add_line(std::string line) override {
    go_on([line = std::move(line)](Connection& connection) { connection.add_line(line); });
  }
  void end_lines() override {
    finish([](Connection& connection) { connection.end_lines(); });
  }

private:
  template <typename Action> void go_on(Action action) {
    if (is_open()) {
      boost::asio::post(connection_->state().io,
                        [connection = connection_, action = std::move(action)]() mutable {
                          action(*connection);
                        });
    }
  }
  /// The last action. The connection goes back to its thread, which may destroy it.
  template <typename Action> void finish(Action action) {
    if (!connection_) {
      return;
    }
    ServerState& state = connection_->state();
    boost::asio::post(state.io, [connection = std::exchange(connection_, nullptr),
                                 action = std::move(action)]() mutable {
      if (connection->is_alive()) {
        action(*connection);
      }
    });
  }

  std::shared_ptr<Connection> connection_; ///< nullptr: answered
  HttpRequest request_;
  const bool is_head_;
  bool has_lines_ = false;
};

} // namespace

std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request) {
  return std::make_shared<ConnectionExchange>(std::move(connection), std::move(request));
}

} // namespace winnow::harness
