// Hostile input over real connections on loopback.
#include "base/error.h"
#include "harness/serve/access.h"
#include "harness/serve/http/http_server.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kKept = 4;

/// Answers with the body; refuses the target /refused; keeps requests for /held.
struct EchoApplication : HttpApplication {
  std::optional<HttpReply> refuse(const HttpRequest& head) override {
    EXPECT_EQ(head.body, "");
    return head.target == "/refused" ? std::optional(HttpReply{401, "{}"}) : std::nullopt;
  }
  void handle(std::shared_ptr<Exchange> exchange) override {
    ++handled;
    const std::string target = exchange->request().target;
    if (target == "/held") {
      held.push_back(std::move(exchange));
    } else if (target == "/lines") {
      exchange->begin_lines();
      exchange->add_line("one");
      exchange->add_line("two");
      exchange->end_lines();
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
  }

  std::atomic<int> handled{0}, still_open{0};
  std::vector<std::shared_ptr<Exchange>> held;
};

class Client {
public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval limit{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { close(); }
  Client(const Client&) = delete; // owns a socket
  Client& operator=(const Client&) = delete;

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
    char buffer[4096];
    for (;;) {
      if (!end.empty() && text.find(end) != std::string::npos) {
        return text;
      }
      const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) {
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? text + "[no answer]" : text;
      }
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  void close() {
    if (socket_ >= 0) {
      ::close(std::exchange(socket_, -1));
    }
  }

private:
  int socket_;
};

struct HttpServerTest : ::testing::Test {
  EchoApplication application;
  std::unique_ptr<HttpServer> server;
  std::thread thread;

  HttpServerTest() {
    HttpLimits limits;
    limits.body_bytes = 100'000;
    limits.all_bodies_bytes = 150'000;
    limits.connections = kKept;
    limits.body_time = milliseconds(400);
    limits.idle_time = milliseconds(800);
    server = std::make_unique<HttpServer>(parse_bind_address("127.0.0.1:0"), application, limits);
    thread = std::thread([this] { server->run(); });
  }
  ~HttpServerTest() override {
    server->stop();
    thread.join();
  }
  std::string answer_to(const std::string& request, const std::string& end = "\r\n\r\n") const {
    const Client client(server->port());
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

TEST_F(HttpServerTest, KeepsAConnectionForSeveralRequests) {
  const Client client(server->port());
  for (const char* body : {"hello", "", "again"}) {
    client.send(fmt::format("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                            std::string_view(body).size(), body));
    EXPECT_THAT(client.read("\r\n\r\n" + std::string(body)), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  client.send("GET /x HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read(""), HasSubstr("Connection: close"));
}

TEST_F(HttpServerTest, WritesLinesInChunks) {
  EXPECT_THAT(answer_to("GET /lines HTTP/1.1\r\n\r\n", "0\r\n\r\n"),
              HasSubstr("\r\n\r\n4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, RefusesAHugeBodyBeforeItComes) {
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 4"));
  std::string chunks = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 120; ++i) {
    chunks += "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  }
  EXPECT_THAT(answer_to(chunks), StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HttpServerTest, RefusesAWrongTokenBeforeTheBody) {
  EXPECT_THAT(answer_to("POST /refused HTTP/1.1\r\nContent-Length: 90000\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HttpServerTest, BoundsTheHeader) {
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer_to("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(std::string("\0\xff\x16\x03", 4) + "\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, ASlowBodyEnds) {
  const auto start = std::chrono::steady_clock::now();
  const Client client(server->port());
  client.send("POST /x HTTP/1.1\r\nContent-Length: 1000\r\n\r\n");
  std::atomic<bool> done{false};
  std::thread drip([&] {
    while (!done) {
      client.send("x"); // each byte comes in time, but not the whole body
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  EXPECT_EQ(client.read(), "");
  done = true;
  drip.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HttpServerTest, ASilentConnectionEnds) {
  const Client client(server->port());
  EXPECT_EQ(client.read(), "");
}

TEST_F(HttpServerTest, BoundsTheBodiesThatAreBeingRead) {
  const Client first(server->port());
  first.send("POST /x HTTP/1.1\r\nContent-Length: 90000\r\n\r\nbegin");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nContent-Length: 90000\r\n\r\n"),
              StartsWith("HTTP/1.1 503 "));
  first.send(std::string(90'000, 'x'));
  EXPECT_THAT(first.read(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(
      answer_to("POST /x HTTP/1.1\r\nContent-Length: 60000\r\n\r\n" + std::string(60'000, 'x')),
      StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, BoundsConnectionsAndForgetsThoseThatGo) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < kKept; ++i) {
    clients.push_back(std::make_unique<Client>(server->port()));
    clients.back()->send("GET /held HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(soon([&] { return application.still_open == static_cast<int>(kKept); }));
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  clients.pop_back();
  EXPECT_TRUE(soon([&] { return application.still_open == static_cast<int>(kKept) - 1; }));
  server->post([&] {
    for (const auto& exchange : application.held) {
      exchange->reply({200, "late", "text/plain"});
    }
    application.held.clear();
  });
  EXPECT_THAT(clients.front()->read("late"), StartsWith("HTTP/1.1 200 "));
  clients.clear();
  EXPECT_TRUE(
      soon([&] { return answer_to("GET /x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "); }));
}

TEST_F(HttpServerTest, ClosesWhatNobodyAnswers) {
  EXPECT_EQ(answer_to("GET /dropped HTTP/1.1\r\n\r\n"), "");
}

TEST_F(HttpServerTest, AnswersHeldRequestsWhenItStops) {
  const Client client(server->port());
  client.send("GET /held HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(soon([&] { return application.handled == 1; }));
  server->stop();
  EXPECT_THAT(client.read("ends"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, SaysContinueToAClientThatAsks) {
  const Client client(server->port());
  client.send("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(client.read(), StartsWith("HTTP/1.1 100 Continue\r\n\r\n"));
  client.send("ok");
  EXPECT_THAT(client.read("ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AnAddressThatIsTakenIsAnError) {
  EXPECT_THROW(
      HttpServer(parse_bind_address(fmt::format("127.0.0.1:{}", server->port())), application),
      Error);
}

} // namespace
} // namespace winnow::harness
