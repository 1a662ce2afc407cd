// Real connections on loopback to a server that echoes.
#pragma once

#include "base/files.h"
#include "harness/serve/access.h"
#include "harness/serve/http/http_server.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::harness::test {

using std::chrono::milliseconds;

constexpr std::size_t kKept = 4;

/// Answers with the body; refuses the target /refused; keeps requests for /held and /held-lines.
struct EchoApplication : HttpApplication {
  Admission admit(const HttpRequest& head) override {
    EXPECT_EQ(head.body, "");
    return {head.target == "/refused" ? std::optional(HttpReply{401, "{}"}) : std::nullopt,
            head.authorization};
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    ++handled;
    const std::string target = exchange->request().target;
    if (target == "/held") {
      held.push_back(std::move(exchange));
    } else if (target == "/held-lines") {
      exchange->begin_lines();
      held.push_back(std::move(exchange));
    } else if (target == "/slow") { // answers before handle() ends
      exchange->reply({200, exchange->take_body(), "text/plain"});
      std::this_thread::sleep_for(milliseconds(20));
    } else if (target == "/lines") {
      exchange->begin_lines();
      exchange->add_line("one");
      exchange->add_line("two");
      exchange->end_lines();
    } else if (target == "/lines-and-reply") {
      exchange->begin_lines();
      exchange->add_line("one");
      exchange->reply({422, "no"});
    } else if (target == "/page" || target == "/own-page") {
      HttpReply reply{200, "", "text/plain"};
      reply.page = target == "/page" ? page : std::make_shared<const std::string>(*large());
      exchange->reply(std::move(reply));
    } else if (target != "/dropped") {
      exchange->reply({200, exchange->take_body(), "text/plain"});
    }
  }
  void tick() override {
    still_open = 0;
    for (const auto& exchange : held) {
      still_open += exchange->is_open() ? 1 : 0;
    }
  }
  void end() override {
    for (const auto& exchange : held) {
      exchange->reply({503, "ends"});
    }
    held.clear();
    at_end();
  }

  /// Ends with "end".
  static std::shared_ptr<const std::string> large() {
    return std::make_shared<const std::string>(std::string(std::size_t{8} << 20U, 'p') + "end");
  }

  std::function<void()> at_end = [] {};
  std::shared_ptr<const std::string> page;
  std::atomic<int> handled{0}, still_open{0};
  std::vector<std::shared_ptr<Exchange>> held;
};

/// A peer that sends what it likes.
class HttpPeer {
public:
  explicit HttpPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval limit{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~HttpPeer() { close(); }
  HttpPeer(const HttpPeer&) = delete; // owns a socket
  HttpPeer& operator=(const HttpPeer&) = delete;

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return; // the server has refused the rest
      }
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// All until this text has come, the server closes, or ten seconds are over.
  std::string read(const std::string& end = "\r\n\r\n") const {
    std::string text;
    std::size_t searched = 0; // large answers are to be read in linear time
    char buffer[65536];
    for (;;) {
      if (!end.empty() && text.find(end, searched) != std::string::npos) {
        return text;
      }
      searched = text.size() - std::min(text.size(), end.size());
      const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? text + "[no answer]" : text;
      }
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  /// Whether the server has closed the connection. Takes nothing of what it has sent.
  bool is_closed() const {
    char byte = 0;
    const ssize_t got = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) { // what is before the end hides it
      pollfd ended{socket_, POLLRDHUP, 0};
      return poll(&ended, 1, 0) > 0 && (ended.revents & (POLLERR | POLLHUP)) != 0;
    }
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  /// Whether the connection ends before the text "end" has come.
  bool is_closed_after_reading() const {
    const std::string all = read("end");
    return all.find("end") == std::string::npos && all.find("[no answer]") == std::string::npos;
  }
  void close() {
    if (socket_ >= 0) {
      ::close(std::exchange(socket_, -1));
    }
  }

private:
  int socket_;
};

struct HttpFixture : ::testing::Test {
  TemporaryDirectory folder{"http"};
  std::filesystem::path socket = folder.path() / "socket";
  EchoApplication application;
  std::unique_ptr<HttpServer> server;
  std::thread thread;

  static HttpLimits small_limits() {
    HttpLimits limits;
    limits.body.body_bytes = 100'000;
    limits.all_bodies_bytes = 150'000;
    limits.connections = kKept;
    limits.stranger_time = milliseconds(800);
    limits.body_time = milliseconds(400);
    limits.idle_time = milliseconds(800);
    return limits;
  }
  explicit HttpFixture(const HttpLimits& limits = small_limits()) {
    server = std::make_unique<HttpServer>(Listening{parse_bind_address("127.0.0.1:0"), socket},
                                          application, limits);
    thread = std::thread([this] { server->run(); });
  }
  ~HttpFixture() override {
    server->stop();
    thread.join();
  }
  std::string answer_to(const std::string& request, const std::string& end = "\r\n\r\n") const {
    const HttpPeer client(server->port());
    client.send(request);
    return client.read(end);
  }
  template <typename Condition> static bool soon(const Condition& condition) {
    for (int i = 0; i < 200; ++i) {
      if (condition()) {
        return true;
      }
      std::this_thread::sleep_for(milliseconds(25));
    }
    return false;
  }
};

} // namespace winnow::harness::test
