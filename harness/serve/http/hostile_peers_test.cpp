// Peers that hold what they can: connections, time, answers.
#include "harness/serve/http/connection.h"
#include "harness/serve/testing/http_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPageBytes = std::size_t{8} << 20U;

struct HostilePeersTest : HttpFixture {
  static HttpLimits limits() {
    HttpLimits limits = small_limits();
    limits.strangers = 8;
    limits.stranger_time = milliseconds(1500);
    limits.write_time = milliseconds(600);
    limits.drain_time = milliseconds(300);
    limits.owner_share = 0.5;
    limits.all_unsent_bytes = kPageBytes + (kPageBytes >> 2U);
    return limits;
  }
  HostilePeersTest() : HttpFixture(limits()) {}

  std::vector<std::unique_ptr<HttpPeer>> peers(std::size_t count, const std::string& text) const {
    std::vector<std::unique_ptr<HttpPeer>> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(std::make_unique<HttpPeer>(server->port()));
      all.back()->send(text);
    }
    return all;
  }
  /// How long the server keeps a peer that sends a byte every 50 ms and reads nothing before.
  milliseconds kept(const HttpPeer& peer) const {
    const auto start = Clock::now();
    for (int i = 0; i < 100 && !peer.is_closed(); ++i) {
      peer.send("x");
      std::this_thread::sleep_for(milliseconds(50));
    }
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  }
};

TEST_F(HostilePeersTest, StrangersNeverKeepAnAdmittedPeerOut) {
  const auto flood = peers(200, "G");
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  std::size_t open = 0;
  for (const auto& peer : flood) {
    open += peer->is_closed() ? 0 : 1;
  }
  EXPECT_LE(open, limits().strangers);
}

TEST_F(HostilePeersTest, DrippedBytesRenewNoTime) {
  EXPECT_LT(kept(HttpPeer(server->port())), milliseconds(3000));
  for (const char* first :
       {"GET /refused HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x HTTP/1.1\r\nHost: a\r\nA: ",
        "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "nonsense\r\n\r\n"}) {
    const HttpPeer peer(server->port());
    peer.send(first);
    EXPECT_LT(kept(peer), milliseconds(3000)) << first;
  }
}

TEST_F(HostilePeersTest, OneOwnerLeavesRoomForTheOthers) {
  const auto mine = peers(kKept, "GET /held HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\n\r\n");
  EXPECT_TRUE(soon([&] { return application.still_open == static_cast<int>(kKept) / 2; }));
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\n\r\n"),
              StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: bob\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(HostilePeersTest, NoticesThatAClientGoesAfterItHasBegunItsNextRequest) {
  const auto held = peers(1, "GET /held HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\n\r\nG");
  EXPECT_TRUE(soon([&] { return application.still_open == 1; }));
  std::this_thread::sleep_for(milliseconds(400)); // the server looks for clients that have gone
  EXPECT_EQ(application.still_open, 1);
  held.front()->close();
  EXPECT_TRUE(soon([&] { return application.still_open == 0; }));
}

TEST_F(HostilePeersTest, APageIsSharedAndItsSlowReadersGo) {
  application.page = std::make_shared<const std::string>(kPageBytes, 'p');
  const auto readers = peers(2, "GET /page HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\n\r\n");
  EXPECT_TRUE(soon([&] { return application.page.use_count() > 2; })); // two hold the same bytes
  EXPECT_THAT(answer_to("GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: bob\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(soon([&] { return application.page.use_count() == 1; })) << "by the wall clock";
}

TEST_F(HostilePeersTest, TheSlowestReaderGoesWhenTheAnswersAreTooMany) {
  const auto slow = peers(1, "GET /own-page HTTP/1.1\r\nHost: a\r\nAuthorization: ann\r\n\r\n");
  EXPECT_TRUE(soon([&] { return application.handled == 1; }));
  std::this_thread::sleep_for(milliseconds(50));
  const std::string all =
      answer_to("GET /own-page HTTP/1.1\r\nHost: a\r\nAuthorization: bob\r\n\r\n", "end");
  EXPECT_THAT(all, HasSubstr("end")); // the second answer fits because the first one has gone
  EXPECT_TRUE(slow.front()->is_closed_after_reading());
}

TEST_F(HostilePeersTest, ABusyApplicationKeepsNobodyWaitingForTheNetwork) {
  server->post([] { std::this_thread::sleep_for(milliseconds(3000)); });
  const auto start = Clock::now();
  EXPECT_THAT(answer_to("GET /refused HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 401 "));
  EXPECT_LT(Clock::now() - start, milliseconds(2500));
}

TEST(Connection, RequestsThatWereAnsweredLeaveNothingBehind) {
  EchoApplication application;
  ServerState state(application, {});
  boost::asio::ip::tcp::acceptor acceptor(state.io, {boost::asio::ip::address_v4::loopback(), 0});
  HttpPeer peer(acceptor.local_endpoint().port());
  std::make_shared<Connection>(state, acceptor.accept())->begin();
  const auto run = [&] { // both threads' work on this one
    state.work.restart();
    state.work.poll();
    return state.io.poll();
  };
  std::string early = "x";
  constexpr int kEarly = 500; // in one piece of the body, so the server reads none of them anew
  for (int i = 0; i < kEarly; ++i) {
    early += "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  peer.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
  HttpFixture::soon([&] { return run() == 0; });
  peer.send(early);
  EXPECT_TRUE(HttpFixture::soon([&] {
    while (run() > 0) {
    }
    return application.handled == kEarly + 1;
  }));
  peer.close();
  std::size_t woken = 0; // by the end of the connection
  HttpFixture::soon([&] { return (woken += run()) > 0 && run() == 0; });
  EXPECT_LT(woken, 10U);
}

TEST_F(HostilePeersTest, AnUnknownTransferEncodingEndsTheConnection) {
  const std::string next = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  for (const char* encoding :
       {"Transfer-Encoding: gzip", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: gzip\r\nContent-Length: 3",
        "Transfer-Encoding: chunked\r\nContent-Length: 3", "Transfer-Encoding:\r\n chunked"}) {
    const std::string all =
        answer_to(fmt::format("POST /x HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n{}", encoding, next), "");
    EXPECT_THAT(all, StartsWith("HTTP/1.1 501 ")) << encoding;
    EXPECT_THAT(all, Not(HasSubstr("200 OK"))) << encoding;
  }
  EXPECT_EQ(application.handled, 0);
}

TEST_F(HostilePeersTest, BoundsWhatComesAroundChunks) {
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nAuthorization: ";
  std::string trailers;
  for (int i = 0; i < 20'000; ++i) {
    trailers += "X: y\r\n";
  }
  EXPECT_THAT(answer_to(head + "ann\r\n\r\n2\r\n{}\r\n0\r\n" + trailers),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer_to(head + "bob\r\n\r\n2;" + std::string(100'000, 'a')),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer_to(head + "cid\r\n\r\n2;a=\"b\"\r\n{}\r\n0\r\nX: y\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
}

} // namespace
} // namespace winnow::harness
