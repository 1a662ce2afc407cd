// The part of Connection that writes answers.
#include "harness/serve/http/connection.h"
#include "harness/serve/http/reply_text.h"

#include <algorithm>
#include <utility>

#include <boost/asio/write.hpp>
#include <fmt/format.h>

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
  refuse(failure(status, error, retry_after_s));
}

void Connection::send(HttpReply reply) {
  waits_ = false;
  drop_body();
  const ServerState::Buffer body =
      reply.page ? reply.page : std::make_shared<const std::string>(std::move(reply.body));
  push(head_of(reply, fmt::format("Content-Length: {}", body->size()), keep_alive_));
  push(body);
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
  push(std::string("0\r\n\r\n"));
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
  if (out_.empty() && !body_) {
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
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  in_.clear();
  read_some(Read::Rest);
}

} // namespace winnow::harness
