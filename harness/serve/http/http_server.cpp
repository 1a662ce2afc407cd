// Boost.Beast is compiled in this file only, because that takes long.
#include "harness/serve/http/http_server.h"

#include "base/error.h"
#include "harness/serve/http/reply_text.h"

#include <algorithm>
#include <deque>
#include <utility> // asio of Boost 1.74 needs this header and does not include it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

namespace winnow::harness {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::milliseconds kFarewell{300}; // for the last replies before the server ends
constexpr std::size_t kOtherFiles = 512;            // descriptors for all but connections

void raise_file_limit(std::size_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOtherFiles);
    limit.rlim_cur = std::max(limit.rlim_cur, wanted);
    setrlimit(RLIMIT_NOFILE, &limit); // if this fails, fewer connections are accepted
  }
}

/// The members before `io` outlive the connections, which the destructor of `io` closes.
struct ServerState {
  ServerState(HttpApplication& served, const HttpLimits& bounds)
      : application(served), limits(bounds) {}

  HttpApplication& application;
  HttpLimits limits;
  std::size_t connections = 0;
  std::size_t bodies_bytes = 0; ///< announced by the requests that are being read
  bool stopping = false;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer ticker{io};
};

class Connection;
std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request);

/// Reads a request, waits for its answer, writes the answer, and begins again.
class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(ServerState& state, tcp::socket socket) : state_(state), stream_(std::move(socket)) {
    ++state_.connections;
  }
  ~Connection() {
    release_body();
    --state_.connections;
  }
  Connection(const Connection&) = delete; // owns a socket
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_.limits.header_bytes));
    parser_->body_limit(state_.limits.body_bytes);
    stream_.expires_after(state_.limits.idle_time);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->on_header(error); });
  }
  void refuse_connection() {
    keep_alive_ = false;
    send(failure(503, "too many connections", 1));
  }
  bool is_alive() const { return alive_; }

  void send(const HttpReply& reply) {
    waits_ = false;
    push(head_of(reply, fmt::format("Content-Length: {}", reply.body.size()), keep_alive_));
    push(reply.body);
    finish();
  }
  void begin_lines() {
    push(head_of({200, {}, "application/x-ndjson"}, "Transfer-Encoding: chunked", keep_alive_));
    write();
  }
  void add_chunk(const std::string& text) {
    push(fmt::format("{:x}\r\n{}\r\n", text.size(), text));
    if (unsent_ > state_.limits.unsent_bytes) {
      close();
    }
    write();
  }
  void end_lines() {
    waits_ = false;
    push("0\r\n\r\n");
    finish();
  }
  /// Nobody will answer the request.
  void abandon() {
    if (waits_) {
      close();
    }
  }

private:
  void on_header(error_code error) {
    if (error) {
      refuse_header(error);
      return;
    }
    const auto& head = parser_->get();
    keep_alive_ = head.keep_alive();
    request_ = {std::string(head.method_string()),
                std::string(head.target()),
                std::string(head[http::field::authorization]),
                std::string(head[http::field::host]),
                std::string(head[http::field::origin]),
                {}};
    if (std::optional<HttpReply> refusal = state_.application.refuse(request_)) {
      refuse(*refusal);
      return;
    }
    const bool has_body = head.chunked() || parser_->content_length().value_or(0) > 0;
    if (has_body && !reserve_body()) {
      refuse(failure(503, "the server is reading too many bodies; send again", 1));
      return;
    }
    if (beast::iequals(head[http::field::expect], "100-continue")) {
      push("HTTP/1.1 100 Continue\r\n\r\n");
      write();
    }
    read_body();
  }
  void read_body() {
    stream_.expires_after(state_.limits.body_time);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       self->release_body();
                       self->on_body(error);
                     });
  }
  void on_body(error_code error) {
    if (error) {
      refuse_header(error);
      return;
    }
    request_.body = std::move(parser_->get().body());
    parser_.reset();
    if (buffer_.size() == 0) {
      buffer_ = beast::flat_buffer(); // a held connection keeps no memory for reading
    }
    waits_ = true;
    stream_.expires_never();
    watch();
    state_.application.handle(make_exchange(shared_from_this(), std::move(request_)));
  }
  bool reserve_body() {
    const std::size_t bytes =
        static_cast<std::size_t>(parser_->content_length().value_or(state_.limits.body_bytes));
    if (state_.bodies_bytes + bytes > state_.limits.all_bodies_bytes) {
      return false;
    }
    reserved_ = bytes;
    state_.bodies_bytes += bytes;
    return true;
  }
  void release_body() { state_.bodies_bytes -= std::exchange(reserved_, 0); }

  void refuse_header(error_code error) {
    if (error == http::error::body_limit) {
      refuse(failure(413, fmt::format("the body has more than {} bytes; send fewer items",
                                      state_.limits.body_bytes)));
    } else if (error == http::error::header_limit) {
      refuse(failure(431,
                     fmt::format("the header has more than {} bytes", state_.limits.header_bytes)));
    } else if (error.category() == make_error_code(http::error::bad_version).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      refuse(failure(400, "this is no HTTP request"));
    } else { // also after a time-out, when the stream has closed the socket already
      close();
    }
  }
  /// Answers and closes, because the rest of the request was not read.
  void refuse(const HttpReply& reply) {
    keep_alive_ = false;
    send(reply);
  }

  /// Notices that the client goes while its request waits.
  void watch() {
    stream_.socket().async_wait(
        tcp::socket::wait_read, [weak = weak_from_this()](error_code error) {
          const auto self = weak.lock();
          if (!self || !self->waits_ || error) {
            return;
          }
          char byte = 0;
          error_code peeked;
          self->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peeked);
          if (peeked) { // otherwise the next request has come early, and waits
            self->close();
          }
        });
  }

  void push(std::string bytes) {
    unsent_ += bytes.size();
    out_.push_back(std::move(bytes));
  }
  void finish() {
    finishes_ = true;
    write();
  }
  void write() {
    if (writing_ || !alive_) {
      return;
    }
    if (out_.empty()) {
      if (std::exchange(finishes_, false)) {
        next();
      }
      return;
    }
    writing_ = true;
    stream_.expires_after(state_.limits.write_time);
    asio::async_write(stream_, asio::buffer(out_.front()),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        self->writing_ = false;
                        self->unsent_ -= self->out_.front().size();
                        self->out_.pop_front();
                        if (error) {
                          self->close();
                          return;
                        }
                        self->write();
                      });
  }
  void next() {
    if (keep_alive_ && !state_.stopping) {
      read();
      return;
    }
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    drain();
  }
  /// Reads on for a moment: closing with unread bytes would take the reply away from the client.
  void drain() {
    stream_.expires_after(std::chrono::seconds(2));
    buffer_ = beast::flat_buffer();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](error_code error, std::size_t read) {
                              self->drained_ += read;
                              if (error || self->drained_ > (std::size_t{1} << 20U)) {
                                self->close();
                              } else {
                                self->drain();
                              }
                            });
  }
  void close() {
    alive_ = false;
    waits_ = false;
    error_code ignored;
    stream_.socket().close(ignored);
  }

  ServerState& state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpRequest request_;
  std::deque<std::string> out_;
  std::size_t unsent_ = 0;
  std::size_t reserved_ = 0;
  std::size_t drained_ = 0;
  bool keep_alive_ = false;
  bool waits_ = false; ///< a request has been read, and its answer is not complete
  bool writing_ = false;
  bool finishes_ = false; ///< the answer is complete when `out_` is empty
  bool alive_ = true;
};

/// One request of a connection.
class ConnectionExchange : public Exchange {
public:
  ConnectionExchange(std::shared_ptr<Connection> connection, HttpRequest request)
      : connection_(std::move(connection)), request_(std::move(request)) {}
  ~ConnectionExchange() override {
    if (connection_) {
      connection_->abandon();
    }
  }
  const HttpRequest& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  bool is_open() const override { return connection_ && connection_->is_alive(); }
  void reply(HttpReply reply) override {
    if (is_open()) {
      connection_->send(reply);
    }
    connection_.reset();
  }
  void begin_lines() override {
    if (is_open()) {
      connection_->begin_lines();
    }
  }
  void add_line(std::string line) override {
    if (is_open()) {
      connection_->add_chunk(line + "\n");
    }
  }
  void end_lines() override {
    if (is_open()) {
      connection_->end_lines();
    }
    connection_.reset();
  }

private:
  std::shared_ptr<Connection> connection_; ///< nullptr: answered
  HttpRequest request_;
};

std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request) {
  return std::make_shared<ConnectionExchange>(std::move(connection), std::move(request));
}

void accept(ServerState& state) {
  state.acceptor.async_accept([&state](error_code error, tcp::socket socket) {
    if (state.stopping) {
      return;
    }
    if (!error) {
      socket.set_option(tcp::no_delay(true), error);
      const bool is_full = state.connections >= state.limits.connections;
      const auto connection = std::make_shared<Connection>(state, std::move(socket));
      if (is_full) {
        connection->refuse_connection();
      } else {
        connection->read();
      }
      accept(state);
      return;
    }
    // For instance no descriptor is left: try again soon.
    auto pause = std::make_shared<asio::steady_timer>(state.io, kTick);
    pause->async_wait([&state, pause](error_code) { accept(state); });
  });
}

void tick(ServerState& state) {
  state.ticker.expires_after(kTick);
  state.ticker.async_wait([&state](error_code error) {
    if (!error && !state.stopping) {
      state.application.tick();
      tick(state);
    }
  });
}

} // namespace

struct HttpServer::State : ServerState {
  using ServerState::ServerState;
};

HttpServer::HttpServer(const BindAddress& bind, HttpApplication& application,
                       const HttpLimits& limits)
    : state_(std::make_unique<State>(application, limits)) {
  raise_file_limit(limits.connections);
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(bind.address), bind.port);
    state_->acceptor.open(endpoint.protocol());
    state_->acceptor.set_option(tcp::acceptor::reuse_address(true));
    state_->acceptor.bind(endpoint);
    state_->acceptor.listen(static_cast<int>(limits.connections));
  } catch (const boost::system::system_error& error) {
    throw Error(fmt::format("cannot listen at {} port {}: {}", bind.address, bind.port,
                            error.code().message()),
                "choose another address or port with --bind");
  }
  accept(*state_);
  tick(*state_);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return state_->acceptor.local_endpoint().port();
}

void HttpServer::run() {
  state_->io.run();
}

void HttpServer::stop() {
  asio::post(state_->io, [this] {
    if (std::exchange(state_->stopping, true)) {
      return;
    }
    error_code ignored;
    state_->acceptor.close(ignored);
    state_->ticker.cancel();
    state_->application.end();
    auto farewell = std::make_shared<asio::steady_timer>(state_->io, kFarewell);
    farewell->async_wait([this, farewell](error_code) { state_->io.stop(); });
  });
}

void HttpServer::post(std::function<void()> work) {
  asio::post(state_->io, std::move(work));
}

} // namespace winnow::harness
