// The end of a worker that lies, among the results of the others.
#include "remote/remote_evaluations.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/judges_fake.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationResult;
using std::chrono::milliseconds;

template <typename Condition> bool becomes_true(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  return condition();
}

/// Results and quarantines in the order in which they were passed on: workers' names, and "-liar".
class Order {
public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    all_.push_back(what);
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> all_;
};

TEST(Quarantine, NoResultOfAWorkerComesAfterItsQuarantine) {
  test::BrokerFake broker;
  RemoteSession session{"pool", test::pool_rules(), "secret"};
  session.rules.quarantined = {"known"};
  const auto transport = broker.coordinator(session.id());
  transport->set_pool_rules("pool", encode(session.rules));
  WorkerRoster roster("pool");
  Order order;
  Patience patience;
  patience.results = patience.pass_on = milliseconds(5);
  patience.other_worker = milliseconds(100);
  RemoteEvaluations evaluations(
      {*transport, roster, session,
       [&](const EvaluationResult& result) {
         order.add(result.fault.empty() ? result.evaluations.front().worker : result.fault);
       },
       [](const std::string&) {}, patience});
  evaluations.watch_quarantines([&](const std::string& worker) { order.add("-" + worker); });
  EXPECT_THAT(order.all(), testing::ElementsAre("-known"));
  const auto a = broker.worker({"a", "pool", false}), liar = broker.worker({"liar", "pool", false});
  test::WorkerOnThread first(*a, test::honest_judge());
  test::WorkerOnThread second(*liar, test::lying_judge("repeats its results"));
  for (int i = 0; i < 40; ++i) {
    evaluations.submit(test::request_of("kernel " + std::to_string(i)));
  }
  ASSERT_TRUE(becomes_true([&] { return order.all().size() == 42; }))
      << testing::PrintToString(order.all());
  const std::vector<std::string> all = order.all();
  const auto found_out = std::find(all.begin(), all.end(), "-liar");
  ASSERT_NE(found_out, all.end());
  EXPECT_EQ(std::count(found_out, all.end(), "liar"), 0);
}

} // namespace
} // namespace winnow::remote
