// Hostile input over real connections on loopback.
#include "base/error.h"
#include "harness/serve/testing/http_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using HttpServerTest = HttpFixture;

TEST_F(HttpServerTest, KeepsAConnectionForSeveralRequests) {
  const HttpPeer client(server->port());
  for (const char* body : {"hello", "", "again"}) {
    client.send(fmt::format("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}",
                            std::string_view(body).size(), body));
    EXPECT_THAT(client.read("\r\n\r\n" + std::string(body)), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  client.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read(""), HasSubstr("Connection: close"));
}

TEST_F(HttpServerTest, WritesLinesInChunks) {
  EXPECT_THAT(answer_to("GET /lines HTTP/1.1\r\nHost: a\r\n\r\n", "0\r\n\r\n"),
              HasSubstr("\r\n\r\n4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, AnswersAHeadAsAGetWithoutItsBody) {
  for (const char* path : {"/x", "/lines"}) {
    const std::string answers =
        answer_to(fmt::format("HEAD {0} HTTP/1.1\r\nHost: a\r\n\r\n"
                              "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                              path),
                  "");
    EXPECT_THAT(answers, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(answers.find("\r\n\r\nHTTP/1.1 200 OK\r\n"), answers.find("\r\n\r\n")) << answers;
  }
  EXPECT_THAT(answer_to("HEAD /refused HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
}

TEST_F(HttpServerTest, EndsAHeadOfLinesWithItsHeader) {
  const std::string answers =
      answer_to("HEAD /held-lines HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                "");
  EXPECT_EQ(answers.find("\r\n\r\nHTTP/1.1 200 OK\r\n"), answers.find("\r\n\r\n")) << answers;
  EXPECT_TRUE(soon([&] { return application.handled == 2 && application.still_open == 0; }));
}

TEST_F(HttpServerTest, PutsNoAnswerIntoAnAnswer) {
  const std::string all = answer_to("GET /lines-and-reply HTTP/1.1\r\nHost: a\r\n\r\n", "");
  EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos) << all;
  EXPECT_THAT(all, Not(HasSubstr("0\r\n\r\n"))) << "the client must see that the lines did not end";
}

TEST_F(HttpServerTest, RefusesAHugeBodyBeforeItComes) {
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
      StartsWith("HTTP/1.1 4"));
  std::string chunks = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 120; ++i) {
    chunks += "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  }
  EXPECT_THAT(answer_to(chunks), StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HttpServerTest, RefusesAWrongTokenBeforeTheBody) {
  EXPECT_THAT(answer_to("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HttpServerTest, BoundsTheHeader) {
  EXPECT_THAT(
      answer_to("GET /x HTTP/1.1\r\nHost: a\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"),
      StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer_to("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(std::string("\0\xff\x16\x03", 4) + "\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpServerTest, ASlowBodyEnds) {
  const auto start = std::chrono::steady_clock::now();
  const HttpPeer client(server->port());
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
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
  const HttpPeer client(server->port());
  EXPECT_EQ(client.read(), "");
}

TEST_F(HttpServerTest, BoundsTheBodiesThatAreBeingRead) {
  const HttpPeer first(server->port());
  first.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\nbegin");
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n"),
              StartsWith("HTTP/1.1 503 "));
  first.send(std::string(90'000, 'x'));
  EXPECT_THAT(first.read(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" +
                        std::string(60'000, 'x')),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, KeepsNoBodyOfARequestThatIsNoPost) {
  EXPECT_THAT(answer_to("DELETE /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"),
              AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("hello"))));
  EXPECT_THAT(answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "hello"),
              HasSubstr("hello"));
}

TEST_F(HttpServerTest, KeepsNoRoomForBodiesThatWereHandled) {
  const std::string body(30'000, 'x');
  const std::string one = "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n";
  for (int i = 0; i < 4; ++i) { // the second is read before handle() of the first one ends
    const std::string all =
        answer_to(one + "\r\n" + body + one + "Connection: close\r\n\r\n" + body, "");
    EXPECT_THAT(all, Not(HasSubstr("HTTP/1.1 503 ")));
  }
  EXPECT_TRUE(soon([&] {
    return answer_to("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
                     std::string(100'000, 'x'))
        .starts_with("HTTP/1.1 200 ");
  }));
}

TEST_F(HttpServerTest, BoundsConnectionsAndForgetsThoseThatGo) {
  std::vector<std::unique_ptr<HttpPeer>> clients;
  for (std::size_t i = 0; i < kKept; ++i) {
    clients.push_back(std::make_unique<HttpPeer>(server->port()));
    clients.back()->send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_TRUE(soon([&] { return application.still_open == static_cast<int>(kKept); }));
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
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
  EXPECT_TRUE(soon([&] {
    return answer_to("GET /x HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 200 ");
  }));
}

TEST_F(HttpServerTest, ClosesWhatNobodyAnswers) {
  EXPECT_EQ(answer_to("GET /dropped HTTP/1.1\r\nHost: a\r\n\r\n"), "");
}

TEST_F(HttpServerTest, AnswersHeldRequestsWhenItStops) {
  const HttpPeer client(server->port());
  client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(soon([&] { return application.handled == 1; }));
  server->stop();
  EXPECT_THAT(client.read("ends"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, GivesTheApplicationNothingAfterItsEnd) {
  const HttpPeer client(server->port());
  client.send("GET /held HTTP/1.1\r\nHost: a\r\n");
  answer_to("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"); // so the server has accepted the client before
  application.at_end = [&] {
    client.send("\r\n");
    std::this_thread::sleep_for(milliseconds(100)); // the network's thread reads it meanwhile
  };
  server->stop();
  EXPECT_THAT(client.read(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(application.handled, 1);
}

TEST_F(HttpServerTest, SaysContinueToAClientThatAsks) {
  const HttpPeer client(server->port());
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(client.read(), StartsWith("HTTP/1.1 100 Continue\r\n\r\n"));
  client.send("ok");
  EXPECT_THAT(client.read("ok"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AnAddressThatIsTakenIsAnError) {
  EXPECT_THROW(
      HttpServer({parse_bind_address(fmt::format("127.0.0.1:{}", server->port()))}, application),
      Error);
}

TEST(HttpServer, EndsTheApplicationAlsoWithoutAPeer) {
  test::EchoApplication application;
  bool has_ended = false;
  application.at_end = [&] { has_ended = true; };
  HttpServer server({parse_bind_address("127.0.0.1:0")}, application);
  server.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }); // it is busy
  server.stop();
  server.run();
  EXPECT_TRUE(has_ended);
}

} // namespace
} // namespace winnow::harness
