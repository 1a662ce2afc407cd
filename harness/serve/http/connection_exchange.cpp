#include "harness/serve/http/connection_exchange.h"

#include "harness/serve/http/connection.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace winnow::harness {
namespace {

class ConnectionExchange : public Exchange {
public:
  ConnectionExchange(std::shared_ptr<Connection> connection, HttpRequest request)
      : connection_(std::move(connection)), request_(std::move(request)) {}
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
  bool has_lines_ = false;
};

} // namespace

std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request) {
  return std::make_shared<ConnectionExchange>(std::move(connection), std::move(request));
}

} // namespace winnow::harness
