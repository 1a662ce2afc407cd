#include "harness/serve/http/work_queue.h"
#include "harness/serve/testing/exchange_fake.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using ::testing::ElementsAre;

TEST(WorkQueue, OwnersTakeTurnsAfterTheServersOwnWork) {
  boost::asio::io_context work;
  std::vector<std::string> done;
  WorkQueue queue(work, [&](WorkQueue::Request request) {
    done.push_back(request.exchange->request().target);
  });
  const auto push = [&](const std::string& owner, const std::string& target) {
    queue.push(owner, {std::make_shared<test::ExchangeFake>("GET", target), {}});
  };
  for (const char* target : {"ann 1", "ann 2", "ann 3"}) {
    push("ann", target);
  }
  push("bob", "bob 1");
  push("cid", "cid 1");
  queue.push([&] { done.emplace_back("result"); });
  work.run();
  EXPECT_THAT(done, ElementsAre("result", "ann 1", "bob 1", "cid 1", "ann 2", "ann 3"));
  work.restart();
  push("ann", "ann 4"); // it begins again after it was empty
  work.run();
  EXPECT_EQ(done.back(), "ann 4");
}

TEST(WorkQueue, ResultsWithoutEndKeepNoOwnerWaiting) {
  boost::asio::io_context work;
  std::vector<std::string> done;
  WorkQueue queue(work, [&](WorkQueue::Request request) {
    done.push_back(request.exchange->request().target);
  });
  for (const char* result : {"result 1", "result 2", "result 3"}) {
    queue.push([&, result] { done.emplace_back(result); });
  }
  queue.push("ann", {std::make_shared<test::ExchangeFake>("GET", "ann 1"), {}});
  queue.push("bob", {std::make_shared<test::ExchangeFake>("GET", "bob 1"), {}});
  work.run();
  EXPECT_THAT(done, ElementsAre("result 1", "ann 1", "result 2", "bob 1", "result 3"));
}

TEST(WorkQueue, WhatARequestLeavesIsDoneInTurns) {
  boost::asio::io_context work;
  std::vector<std::string> done;
  WorkQueue queue(work, [&](WorkQueue::Request request) {
    done.push_back(request.exchange->request().target);
  });
  queue.push("ann", {std::make_shared<test::ExchangeFake>("GET", "ann 1"), {}});
  queue.push("bob", {std::make_shared<test::ExchangeFake>("GET", "bob 1"), {}});
  queue.push(
      "ann", [&] { done.emplace_back("ann last"); }, Turn::Last);
  queue.push(
      "ann", [&] { done.emplace_back("ann next"); }, Turn::Next);
  work.run();
  EXPECT_THAT(done, ElementsAre("ann next", "bob 1", "ann 1", "ann last"));
}

} // namespace
} // namespace winnow::harness
