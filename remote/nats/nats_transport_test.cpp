// The transport over a real nats-server on the loopback interface.
#include "remote/remote_evaluations.h"
#include "remote/remote_worker.h"
#include "remote/testing/nats_server_fake.h"
#include "remote/testing/pool_fake.h"
#include "remote/transport_library.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds kNow{200};

template <typename Condition> bool comes_true(Condition condition) {
  for (int i = 0; i < 1500; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

template <typename Refused, typename Act> std::string error_of(Act act) {
  try {
    act();
  } catch (const Refused& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("another error: ") + error.what();
  }
  return "none";
}

class NatsTransport : public testing::Test {
protected:
  void SetUp() override {
    if (const std::string why = test::NatsServerFake::why_not(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    server_ = std::make_unique<test::NatsServerFake>(std::vector<WorkerIdentity>{
        {"a", "pool", false}, {"b", "pool", true}, {"c", "other", false}});
    coordinator_ = connect_coordinator();
    coordinator_->prepare("pool");
  }
  std::unique_ptr<CoordinatorTransport> connect_coordinator() {
    return nats_transports().coordinator(server_->address_of("coordinator"), session_);
  }
  std::unique_ptr<WorkerTransport> connect(const std::string& user, const std::string& pool,
                                           bool trusted = false) {
    return nats_transports().worker(server_->address_of(user), {user, pool, trusted});
  }
  JobAddress job(const std::string& name, bool trusted = false) const {
    return {"pool", trusted, session_, name};
  }

  const std::string session_ = "session";
  std::unique_ptr<test::NatsServerFake> server_;
  std::unique_ptr<CoordinatorTransport> coordinator_;
};

TEST_F(NatsTransport, CarriesAJobAndItsResult) {
  const auto worker = connect("a", "pool");
  EXPECT_FALSE(worker->pool_rules());
  coordinator_->set_pool_rules("pool", "rules");
  EXPECT_EQ(worker->pool_rules(), "rules");
  coordinator_->put_task("digest", "task");
  coordinator_->put_task("digest", "another task");
  EXPECT_EQ(worker->task("digest"), "task");
  EXPECT_FALSE(worker->task("no"));

  EXPECT_TRUE(coordinator_->publish(job("1"), "body"));
  EXPECT_FALSE(coordinator_->publish(job("1"), "again")); // it is queued
  const auto got = worker->fetch(kNow);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->address, job("1"));
  EXPECT_EQ(got->body, "body");
  EXPECT_EQ(got->delivery, 1);
  EXPECT_FALSE(coordinator_->publish(job("1"), "again")); // it is at work
  worker->extend(*got);
  const std::string large(3 << 20, 'x');
  worker->publish_result(got->address, "id", large);
  worker->publish_result(got->address, "id", "late");
  worker->finish(*got);
  EXPECT_FALSE(worker->fetch(kNow));
  const auto results = coordinator_->results(kNow);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].job, "1");
  EXPECT_EQ(results[0].worker, "a");
  EXPECT_EQ(results[0].body, large);
  coordinator_->acknowledge(results[0]);
  EXPECT_TRUE(coordinator_->publish(job("1"), "anew"));
}

// libnats 3.4 crashes in one of ten such ends if the subscription is destroyed first.
TEST_F(NatsTransport, ACoordinatorEndsWhileAResultArrives) {
  const auto worker = connect("a", "pool");
  const std::string large(3 << 20, 'x');
  for (int i = 0; i < 60; ++i) {
    const std::string session = session_ + std::to_string(i);
    const auto coordinator =
        nats_transports().coordinator(server_->address_of("coordinator"), session);
    coordinator->prepare("pool");
    EXPECT_TRUE(coordinator->results(milliseconds(1)).empty());
    worker->publish_result({"pool", false, session, "1"}, session, large);
    coordinator->results(milliseconds(1 + i / 4));
  }
}

TEST_F(NatsTransport, CarriesManyResultsAtOnce) {
  const auto worker = connect("a", "pool");
  for (int i = 0; i < 100; ++i) {
    worker->publish_result(job(std::to_string(i)), std::to_string(i), "x");
  }
  std::size_t count = 0;
  for (auto results = coordinator_->results(kNow); !results.empty();
       results = coordinator_->results(kNow)) {
    count += results.size();
  }
  EXPECT_EQ(count, 100U);
}

TEST_F(NatsTransport, WithdrawsTheJobsThatAreLeft) {
  const auto worker = connect("a", "pool");
  for (const char* name : {"1", "2", "3"}) {
    coordinator_->publish(job(name), "body");
  }
  coordinator_->withdraw(job("1"));
  coordinator_->withdraw_all({job("1"), job("2")});
  const auto left = worker->fetch(kNow);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->address, job("3"));
  EXPECT_FALSE(worker->fetch(kNow));
}

TEST_F(NatsTransport, AWithdrawnJobEndsEvenAtAWorker) {
  const auto worker = connect("a", "pool");
  coordinator_->publish(job("1"), "body");
  coordinator_->publish(job("2"), "body");
  const auto got = worker->fetch(kNow);
  ASSERT_TRUE(got);
  coordinator_->withdraw(job("1"));
  coordinator_->withdraw(job("2"));
  coordinator_->withdraw(job("2")); // there is none any more
  const auto before = std::chrono::steady_clock::now();
  error_of<Error>([&] { worker->finish(*got); });
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(3));
  EXPECT_FALSE(worker->fetch(kNow));
  coordinator_->cancel("1");
  ASSERT_TRUE(comes_true([&] {
    const auto cancelled = worker->cancelled();
    return cancelled.size() == 1 && cancelled[0].session == session_ && cancelled[0].job == "1";
  }));
}

TEST_F(NatsTransport, AJobIsDeadAfterFiveDeliveries) {
  const auto worker = connect("a", "pool");
  coordinator_->publish(job("1"), "body");
  for (int i = 1; i <= kMostDeliveries; ++i) {
    const auto got = worker->fetch(std::chrono::seconds(5));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->delivery, i);
    worker->give_back(*got, milliseconds(i == 1 ? 1 : 0));
  }
  EXPECT_FALSE(worker->fetch(kNow));
  std::vector<JobAddress> dead;
  ASSERT_TRUE(comes_true([&] {
    dead = coordinator_->dead_jobs();
    return !dead.empty();
  }));
  EXPECT_EQ(dead, std::vector<JobAddress>{job("1")});
  EXPECT_TRUE(coordinator_->dead_jobs().empty());
}

TEST_F(NatsTransport, OnlyTrustedWorkersHaveTrustedJobs) {
  coordinator_->publish(job("1", true), "secret");
  EXPECT_FALSE(connect("a", "pool")->fetch(kNow));
  EXPECT_THAT(error_of<BrokerRefused>([&] { connect("a", "pool", true)->fetch(kNow); }),
              HasSubstr("refuses this user's request: Permissions Violation"));
  const auto got = connect("b", "pool", true)->fetch(kNow);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->address, job("1", true));
}

TEST_F(NatsTransport, RefusesWhatIsNotTheWorkersOwn) {
  EXPECT_THAT(error_of<BrokerRefused>([&] { connect("c", "pool")->fetch(kNow); }),
              HasSubstr("Permissions Violation"));
  // The name in the subject is another one than the user's.
  const auto liar = nats_transports().worker(server_->address_of("a"), {"b", "pool", false});
  EXPECT_THAT(error_of<BrokerRefused>([&] { liar->publish_result(job("1"), "id", "x"); }),
              HasSubstr("Permissions Violation"));
  BrokerAddress wrong = server_->address_of("a");
  wrong.password = "guessed";
  EXPECT_THAT(error_of<BrokerRefused>([&] {
                nats_transports().worker(wrong, {"a", "pool"});
              }),
              HasSubstr("does not know the user 'a', or the password is wrong"));
  wrong.url = "nats://127.0.0.1:1";
  EXPECT_THAT(error_of<BrokerUnavailable>([&] {
                nats_transports().worker(wrong, {"a", "pool"});
              }),
              HasSubstr("cannot connect to the broker nats://127.0.0.1:1"));
}

TEST_F(NatsTransport, HeartbeatsNameTheirUser) {
  connect("a", "pool")->heartbeat("hello");
  std::vector<WorkerMessage> heard;
  ASSERT_TRUE(comes_true([&] {
    heard = coordinator_->heartbeats();
    return !heard.empty();
  }));
  EXPECT_EQ(heard[0].worker, "a");
  EXPECT_EQ(heard[0].body, "hello");
}

TEST_F(NatsTransport, SurvivesTheDeathOfTheServer) {
  const auto worker = connect("a", "pool");
  coordinator_->publish(job("1"), "body");
  const auto got = worker->fetch(kNow);
  ASSERT_TRUE(got);
  server_->kill();
  EXPECT_TRUE(comes_true([&] { return !coordinator_->is_connected(); }));
  EXPECT_THROW(coordinator_->publish(job("2"), "body"), BrokerUnavailable);
  server_->restart(false);
  ASSERT_TRUE(comes_true([&] { return coordinator_->reconnections() > 0; }));
  ASSERT_TRUE(comes_true([&] { return worker->is_connected(); }));
  EXPECT_FALSE(coordinator_->publish(job("1"), "body")); // the server has kept it
  worker->publish_result(job("1"), "id", "result");
  EXPECT_EQ(coordinator_->results(std::chrono::seconds(5)).size(), 1U);
  server_->kill();
  server_->restart(true);
  ASSERT_TRUE(comes_true([&] { return coordinator_->reconnections() > 1; }));
  coordinator_->prepare("pool");
  EXPECT_TRUE(coordinator_->publish(job("1"), "body"));
  ASSERT_TRUE(comes_true([&] { return worker->is_connected(); }));
  EXPECT_TRUE(comes_true([&] {
    try {
      return worker->fetch(kNow).has_value();
    } catch (const BrokerUnavailable&) {
      return false;
    }
  }));
}

/// Workers and a coordinator with simulated devices.
class NatsPool : public NatsTransport {
protected:
  RemoteSession session_of_pool() const { return {"pool", test::pool_rules(), "secret"}; }
};

TEST_F(NatsPool, EachRequestHasOneResultWhileTheBrokerDies) {
  const RemoteSession session = session_of_pool();
  const auto transport =
      nats_transports().coordinator(server_->address_of("coordinator"), session.id());
  transport->prepare("pool");
  transport->set_pool_rules("pool", encode(session.rules));
  WorkerRoster roster("pool");
  test::Results results;
  RemoteEvaluations evaluations({*transport,
                                 roster,
                                 session,
                                 results.taker(),
                                 [](const std::string& line) { std::cerr << line << std::endl; },
                                 {}});
  const auto a = connect("a", "pool"), b = connect("b", "pool", true);
  const test::Judge slow = [](const auto& request, const auto& stop) {
    std::this_thread::sleep_for(milliseconds(20));
    return test::judge_correct(request, stop);
  };
  test::WorkerOnThread first(*a, slow), second(*b, slow, true);
  constexpr int kRequests = 100;
  for (int i = 0; i < kRequests; ++i) {
    evaluations.submit(test::request_of("kernel " + std::to_string(i)));
  }
  for (const bool empty : {false, true}) {
    std::this_thread::sleep_for(milliseconds(300));
    server_->kill();
    server_->restart(empty);
  }
  ASSERT_TRUE(comes_true([&] { return results.all().size() == kRequests; }))
      << results.all().size() << " results";
  EXPECT_EQ(results.counts().size(), static_cast<std::size_t>(kRequests));
  for (const auto& result : results.all()) {
    EXPECT_EQ(result.fault, "");
  }
}

} // namespace
} // namespace winnow::remote
