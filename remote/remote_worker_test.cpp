#include "remote/remote_worker.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/pool_fake.h"

#include <atomic>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;
using test::judge_correct;
using testing::HasSubstr;

class RemoteWorkerTest : public testing::Test {
protected:
  void set_rules(const PoolRules& rules) { coordinator_->set_pool_rules("pool", encode(rules)); }
  std::string failure_with(const PoolRules& rules) {
    set_rules(rules);
    return failure_of(judge_correct);
  }
  std::string failure_of(test::Judge judge) {
    test::WorkerOnThread worker(*transport_, std::move(judge));
    for (int i = 0; i < 500 && worker.failure().empty(); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return worker.failure();
  }
  void publish(const std::string& job, const std::string& body) {
    coordinator_->publish({"pool", false, "session", job}, body);
  }

  test::BrokerFake broker_;
  std::unique_ptr<CoordinatorTransport> coordinator_ = broker_.coordinator("session");
  std::unique_ptr<WorkerTransport> transport_ = broker_.worker({"w", "pool", false});
};

TEST_F(RemoteWorkerTest, RefusesAPoolThatItDoesNotFit) {
  PoolRules rules = test::pool_rules();
  rules.evaluator_version = 1;
  EXPECT_THAT(failure_with(rules), HasSubstr("the pool needs version 1 of the evaluator"));
  rules = test::pool_rules();
  rules.device_name = "another";
  EXPECT_THAT(failure_with(rules), HasSubstr("the pool judges on cpu (another), and cpu is cpu "
                                             "(a simulated processor)"));
  rules = test::pool_rules();
  rules.isolation = "bubblewrap";
  EXPECT_THAT(failure_with(rules), HasSubstr("requires the isolation 'bubblewrap', and this "
                                             "machine has only 'rlimits'"));
  rules = test::pool_rules();
  rules.torch = true;
  EXPECT_THAT(failure_with(rules), HasSubstr("this worker has no PyTorch"));
}

TEST_F(RemoteWorkerTest, EndsWhenAJobNeedsAnotherEvaluator) {
  set_rules(test::pool_rules());
  Job job;
  job.evaluator_version = 1;
  publish("job", encode(job));
  EXPECT_THAT(failure_of(judge_correct), HasSubstr("asks for version 1 of the evaluator"));
  EXPECT_EQ(broker_.queued(), 1U); // for another worker
}

TEST_F(RemoteWorkerTest, GivesBackWhatItCannotRead) {
  set_rules(test::pool_rules());
  publish("job", "no job");
  test::WorkerOnThread worker(*transport_, judge_correct);
  std::vector<JobAddress> dead;
  for (int i = 0; i < 500 && dead.empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    dead = coordinator_->dead_jobs();
  }
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].job, "job");
  EXPECT_EQ(worker.failure(), ""); // such a job is no fault of the machine
}

TEST_F(RemoteWorkerTest, SaysWhatItIsUntilACoordinatorComes) {
  test::WorkerOnThread worker(*transport_, judge_correct);
  std::vector<WorkerMessage> heard;
  for (int i = 0; i < 500 && heard.empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    heard = coordinator_->heartbeats();
  }
  ASSERT_FALSE(heard.empty());
  EXPECT_EQ(heard[0].worker, "w");
  EXPECT_EQ(decode_heartbeat(heard[0].body).devices.at(0).name, test::pool_rules().device_name);
}

TEST_F(RemoteWorkerTest, FinishesWhatItHoldsBeforeItEnds) {
  set_rules(test::pool_rules());
  std::latch begun(1);
  test::WorkerOnThread worker(*transport_, [&](const auto& request, const auto& stop) {
    begun.count_down();
    std::this_thread::sleep_for(milliseconds(100));
    return judge_correct(request, stop);
  });
  Job job;
  job.request = encode(test::request_of("kernel"));
  publish("job", encode(job));
  begun.wait();
  publish("later", encode(job));
  worker.drain_and_join();
  EXPECT_EQ(broker_.stored_results(), 1);
  EXPECT_EQ(broker_.queued(), 1U); // the later one
}

TEST_F(RemoteWorkerTest, BeginsTheNextJobWhileAResultIsStored) {
  set_rules(test::pool_rules());
  std::latch begun(2);
  test::WorkerOnThread worker(*transport_, [&](const auto& request, const auto& stop) {
    begun.count_down();
    return judge_correct(request, stop);
  });
  broker_.confirm_results(false);
  Job job;
  job.request = encode(test::request_of("kernel"));
  publish("first", encode(job));
  publish("second", encode(job));
  for (int i = 0; i < 500 && !begun.try_wait(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(begun.try_wait());
  EXPECT_EQ(broker_.queued(), 2U); // until the broker has the results
  broker_.confirm_results(true);
  worker.drain_and_join();
  EXPECT_EQ(broker_.queued(), 0U);
}

TEST_F(RemoteWorkerTest, HoldsNoThirdJobWhileAResultIsStored) {
  set_rules(test::pool_rules());
  std::atomic<int> begun = 0;
  test::WorkerOnThread worker(*transport_, [&](const auto& request, const auto& stop) {
    ++begun;
    return judge_correct(request, stop);
  });
  broker_.confirm_results(false);
  Job job;
  job.request = encode(test::request_of("kernel"));
  for (const char* name : {"first", "second", "third"}) {
    publish(name, encode(job));
  }
  for (int i = 0; i < 500 && begun < 2; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(begun, 2);
  broker_.confirm_results(true);
  worker.drain_and_join();
}

TEST_F(RemoteWorkerTest, KeepsAResultUntilTheBrokerIsBack) {
  set_rules(test::pool_rules());
  std::latch begun(1), away(1);
  test::WorkerOnThread worker(*transport_, [&](const auto& request, const auto& stop) {
    begun.count_down();
    away.wait();
    return judge_correct(request, stop);
  });
  Job job;
  job.request = encode(test::request_of("kernel"));
  publish("job", encode(job));
  begun.wait();
  broker_.go_down();
  away.count_down();
  std::this_thread::sleep_for(milliseconds(100));
  broker_.come_back(false);
  EXPECT_EQ(coordinator_->results(std::chrono::seconds(10)).size(), 1U);
}

} // namespace
} // namespace winnow::remote
