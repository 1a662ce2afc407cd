#include "base/files.h"
#include "harness/serve/server_application.h"
#include "harness/serve/testing/exchange_fake.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using test::ExchangeFake;
using ::testing::HasSubstr;
using ::testing::Pointee;

struct ServerApplicationTest : ::testing::Test {
  TemporaryDirectory directory{"serve-test"};
  std::filesystem::path path = directory.path() / "s.db";
  store::RunStore store{path, store::RunStore::Mode::ReadWrite};
  std::mutex mutex;
  std::condition_variable posted;
  std::deque<std::function<void()>> work;
  BoardPages board{path, {}, [this](std::function<void()> one) {
                     const std::lock_guard lock(mutex);
                     work.push_back(std::move(one));
                     posted.notify_all();
                   }};
  Access access;

  void run_posted() {
    std::unique_lock lock(mutex);
    posted.wait(lock, [this] { return !work.empty(); });
    work.front()();
    work.pop_front();
  }
  int refused(const std::string& method, const std::string& target, const std::string& host,
              const std::string& origin = "", const std::string& token = "", bool local = true) {
    ServerApplication application(access, local, board, nullptr);
    const auto reply = application.admit({method, target, token, host, origin, ""}).reply;
    return reply ? reply->status : 0;
  }
};

TEST_F(ServerApplicationTest, WithoutATokenAnswersNoForeignPage) {
  EXPECT_EQ(refused("GET", "/", "127.0.0.1:8787"), 0);
  EXPECT_EQ(refused("GET", "/", "[::1]:8787"), 0);
  EXPECT_EQ(refused("GET", "/", "localhost"), 0);
  EXPECT_EQ(refused("GET", "/", "evil.example:8787"), 403); // a name that leads to this machine
  EXPECT_EQ(refused("POST", "/v1/judge", "127.0.0.1:8787", "http://evil.example"), 403);
  EXPECT_EQ(refused("POST", "/v1/judge", "127.0.0.1:8787"), 0);
  EXPECT_EQ(refused("PUT", "/", "127.0.0.1"), 405);
  EXPECT_EQ(refused("GET", "/%", "127.0.0.1"), 400);
}

TEST_F(ServerApplicationTest, WithTokensAsksForOne) {
  access.add({"ann"}, "0123456789abcdef");
  EXPECT_EQ(refused("GET", "/", "box", "", "", false), 401);
  EXPECT_EQ(refused("GET", "/", "box", "", "Bearer 0123456789abcdef", false), 0);
  EXPECT_EQ(refused("GET", "/v1/health", "box", "", "", false), 404); // this server does not judge
  EXPECT_EQ(refused("POST", "/v1/health", "box", "", "", false), 401);
  EXPECT_EQ(refused("POST", "/v1/judge", "box", "", "Bearer x", false), 401);
  // a browser adds the password that it knows to what a page of another site sends
  const std::string token = "Bearer 0123456789abcdef";
  EXPECT_EQ(refused("POST", "/v1/judge", "box", "http://evil.example", token, false), 403);
  EXPECT_EQ(refused("POST", "/v1/judge", "box:1", "https://box:1", token, false), 0);
}

TEST_F(ServerApplicationTest, ServesTheBoardAgainWhenTheStoreHasChanged) {
  ServerApplication application(access, true, board, nullptr);
  const auto ask = [&](const std::string& target) {
    auto exchange = std::make_shared<ExchangeFake>("GET", target);
    application.handle(exchange);
    return exchange;
  };
  const auto first = ask("/");
  EXPECT_FALSE(first->answer()); // a thread makes the page
  run_posted();
  EXPECT_THAT(first->answer()->page, Pointee(HasSubstr("connect-src 'self'")));
  const std::string version = ask("/version")->answer()->body;
  EXPECT_THAT(
      first->answer()->page,
      Pointee(HasSubstr("\"live_version\":\"" + version.substr(0, version.size() - 1) + "\"")));
  EXPECT_TRUE(ask("/")->answer()); // nothing has changed
  store.create_run("newer", {{"kind", "person"}}, nlohmann::json::object());
  EXPECT_NE(ask("/version")->answer()->body, version);
  const auto second = ask("/");
  run_posted();
  EXPECT_THAT(second->answer()->page, Pointee(HasSubstr("newer")));
  EXPECT_EQ(ask("/v1/judge")->answer()->status, 404); // this server does not judge
}

TEST_F(ServerApplicationTest, NeverAnswersWithAPageOlderThanTheRequest) {
  const auto before = std::make_shared<ExchangeFake>("GET", "/");
  board.answer(before);
  std::unique_lock lock(mutex);
  posted.wait(lock, [this] { return !work.empty(); }); // the first page is made
  lock.unlock();
  store.create_run("newer", {{"kind", "person"}}, nlohmann::json::object());
  const auto after = std::make_shared<ExchangeFake>("GET", "/");
  board.answer(after);
  run_posted();
  EXPECT_TRUE(before->answer());
  EXPECT_FALSE(after->answer());
  run_posted();
  ASSERT_TRUE(after->answer());
  EXPECT_THAT(after->answer()->page, Pointee(HasSubstr("newer")));
}

TEST_F(ServerApplicationTest, KeepsOnlyThePagesThatWereAskedForLast) {
  const auto ask = [&](std::size_t owner) {
    auto exchange = std::make_shared<ExchangeFake>("GET", "/");
    board.answer(exchange, "owner" + std::to_string(owner));
    return exchange;
  };
  for (std::size_t owner = 0; owner <= BoardPages::kMostKept; ++owner) {
    const auto exchange = ask(owner);
    run_posted();
    EXPECT_TRUE(exchange->answer());
  }
  for (std::size_t owner = 1; owner <= BoardPages::kMostKept; ++owner) {
    EXPECT_TRUE(ask(owner)->answer());
  }
  EXPECT_FALSE(ask(0)->answer()); // it is made again
  run_posted();
}

TEST_F(ServerApplicationTest, AnswersEachOwnerWithTheOwnersPage) {
  std::map<std::string, std::shared_ptr<ExchangeFake>> asked;
  for (const char* owner : {"ann", "bob", ""}) { // while the first page is made, the others wait
    asked[owner] = std::make_shared<ExchangeFake>("GET", "/");
    board.answer(asked[owner], owner);
  }
  for (const char* owner : {"ann", "bob", ""}) {
    EXPECT_FALSE(asked[owner]->answer());
    run_posted();
    EXPECT_TRUE(asked[owner]->answer());
  }
}

} // namespace
} // namespace winnow::harness
