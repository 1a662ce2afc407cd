#include "base/error.h"
#include "remote/remote_evaluations.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/pool_fake.h"
#include "tasks/plan/kernel_file.h"

#include <atomic>
#include <future>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using std::chrono::milliseconds;
using test::judge_correct;
using test::request_of;
using testing::HasSubstr;

/// A coordinator beside a broker. A second one with the same secret is the same one after its
/// death.
class Coordinator {
public:
  /// `before_result` runs before each result is taken.
  explicit Coordinator(
      test::BrokerFake& broker, Patience patience = {},
      const std::function<void()>& before_result = [] {}) {
    patience.results = milliseconds(20);
    patience.pass_on = milliseconds(1);
    session_.pool = "pool";
    session_.rules = test::pool_rules();
    session_.secret = "secret";
    transport_ = broker.coordinator(session_.id());
    transport_->set_pool_rules("pool", encode(session_.rules));
    evaluations_ = std::make_unique<RemoteEvaluations>(
        RemoteEvaluations::Setup{*transport_, roster_, session_,
                                 [before_result, take = results_.taker()](EvaluationResult result) {
                                   before_result();
                                   take(std::move(result));
                                 },
                                 [this](const std::string& line) {
                                   const std::lock_guard lock(mutex_);
                                   warnings_ += line + "\n";
                                 },
                                 patience});
  }
  std::string warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

  RemoteEvaluations& evaluations() { return *evaluations_; }
  test::Results& results() { return results_; }
  JobAddress address_of(const EvaluationRequest& request) const {
    return {"pool", false, session_.id(), session_.job_of(request.id)};
  }

private:
  mutable std::mutex mutex_;
  std::string warnings_;
  RemoteSession session_;
  std::unique_ptr<CoordinatorTransport> transport_;
  WorkerRoster roster_{"pool"};
  test::Results results_;
  std::unique_ptr<RemoteEvaluations> evaluations_;
};

WorkerIdentity named(const std::string& name, bool trusted = false) {
  return {name, "pool", trusted};
}

/// Waits until it is stopped.
std::vector<tasks::Evaluation> never(const EvaluationRequest& /*request*/,
                                     const std::stop_token& stop) {
  std::promise<void> stopped;
  const std::stop_callback callback(stop, [&] { stopped.set_value(); });
  stopped.get_future().wait();
  return {};
}

template <typename Condition> bool comes_true(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

std::vector<EvaluationRequest> submit_many(Coordinator& coordinator, int count) {
  std::vector<EvaluationRequest> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(request_of("kernel " + std::to_string(i)));
    coordinator.evaluations().submit(requests.back());
  }
  return requests;
}

void expect_one_each(const test::Results& results, const std::vector<EvaluationRequest>& requests) {
  EXPECT_EQ(results.counts().size(), requests.size());
  for (const auto& [id, count] : results.counts()) {
    EXPECT_EQ(count, 1);
  }
  for (const EvaluationResult& result : results.all()) {
    EXPECT_EQ(result.fault, "");
  }
}

TEST(RemoteEvaluations, GiveEachRequestOneResult) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto a = broker.worker(named("a")), b = broker.worker(named("b"));
  test::WorkerOnThread first(*a, judge_correct), second(*b, judge_correct);
  const auto requests = submit_many(coordinator, 30);
  ASSERT_TRUE(coordinator.results().wait_for(30));
  expect_one_each(coordinator.results(), requests);
  EXPECT_THAT(coordinator.results().all().front().worker, testing::AnyOf("a cpu", "b cpu"));
  EXPECT_TRUE(comes_true([&] { return broker.queued() == 0; }));
}

// The result of a job may be among those that the coordinator has not read yet.
TEST(RemoteEvaluations, NoJobIsPublishedAgainWhileResultsWaitAtTheBroker) {
  constexpr int kJobs = 150; // more than the coordinator reads ahead
  test::BrokerFake broker;
  std::promise<void> keep_up;
  Patience patience;
  patience.publish_again = milliseconds(1000);
  Coordinator coordinator(broker, patience,
                          [kept_up = keep_up.get_future().share()] { kept_up.wait(); });
  std::vector<EvaluationRequest> requests;
  std::map<std::string, std::string> results; // by job; made first, because that takes a while
  for (int i = 0; i < kJobs; ++i) {
    requests.push_back(request_of("kernel " + std::to_string(i)));
    results[coordinator.address_of(requests.back()).job] =
        encode(EvaluationResult{requests.back().id, "cpu", judge_correct(requests.back(), {}), ""});
  }
  for (const EvaluationRequest& request : requests) {
    coordinator.evaluations().submit(request);
  }
  ASSERT_TRUE(comes_true([&] { return broker.publications() == kJobs; }));
  const auto worker = broker.worker(named("a"));
  while (const auto job = worker->fetch(milliseconds(0))) {
    worker->publish_result(job->address, job->address.job, results.at(job->address.job));
    worker->finish(*job);
  }
  std::this_thread::sleep_for(2 * patience.publish_again);
  EXPECT_EQ(broker.publications(), kJobs);
  keep_up.set_value();
  ASSERT_TRUE(coordinator.results().wait_for(kJobs));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, AJobThatTheBrokerStrandedIsPublishedAgain) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto requests = submit_many(coordinator, 3);
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 3; }));
  broker.strand_jobs();
  const auto transport = broker.worker(named("a"));
  test::WorkerOnThread worker(*transport, judge_correct);
  EXPECT_FALSE(coordinator.results().wait_for(1, milliseconds(300)));
  broker.go_down();
  broker.come_back(false);
  ASSERT_TRUE(coordinator.results().wait_for(3));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, WorkersSeeNoHeldOutShape) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto transport = broker.worker(named("a"));
  std::atomic<bool> sees{true};
  const EvaluationRequest request = request_of("kernel");
  test::WorkerOnThread worker(*transport, [&](const EvaluationRequest& got, const auto& stop) {
    sees = got.task->task_toml.find("99991") != std::string::npos;
    return judge_correct(got, stop);
  });
  ASSERT_NE(request.task->task_toml.find("99991"), std::string::npos); // of a held-out shape
  coordinator.evaluations().submit(request);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_EQ(coordinator.results().all().front().fault, "");
  EXPECT_FALSE(sees);
}

TEST(RemoteEvaluations, AWorkerThatDiesLosesNothing) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto a = broker.worker(named("a")), b = broker.worker(named("b"));
  std::latch begun(1);
  test::WorkerOnThread dying(*a, [&](const EvaluationRequest& request, const auto& stop) {
    begun.count_down();
    return never(request, stop);
  });
  const auto requests = submit_many(coordinator, 1);
  begun.wait();
  broker.lose_worker("a");
  test::WorkerOnThread second(*b, judge_correct);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  expect_one_each(coordinator.results(), requests);
  coordinator.evaluations().stop(); // so that the first worker ends
}

TEST(RemoteEvaluations, AWorkerThatDiesBeforeItFinishesTheJobLosesNothing) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto requests = submit_many(coordinator, 1);
  const auto dying = broker.worker(named("a"));
  std::optional<DeliveredJob> job;
  ASSERT_TRUE(comes_true([&] { return (job = dying->fetch(milliseconds(100))).has_value(); }));
  EvaluationResult result{requests[0].id, "cpu", judge_correct(requests[0], {}), {}};
  dying->publish_result(job->address, "id", encode(result));
  ASSERT_TRUE(coordinator.results().wait_for(1)); // and then the coordinator withdraws the job
  EXPECT_TRUE(comes_true([&] { return broker.queued() == 0; }));
  broker.lose_worker("a");
  EXPECT_FALSE(dying->fetch(milliseconds(50)));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, TwoResultsOfOneJobCountOnce) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto requests = submit_many(coordinator, 1);
  const std::string body =
      encode(EvaluationResult{requests[0].id, "cpu", judge_correct(requests[0], {}), {}});
  broker.forge_result(coordinator.address_of(requests[0]), "a", body);
  broker.forge_result(coordinator.address_of(requests[0]), "b", body);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  std::this_thread::sleep_for(milliseconds(100));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, AResultWaitsForACoordinatorThatComesBack) {
  test::BrokerFake broker;
  const EvaluationRequest request = request_of("kernel");
  const std::string body =
      encode(EvaluationResult{request.id, "cpu", judge_correct(request, {}), {}});
  RemoteSession session{"pool", test::pool_rules(), "secret"};
  broker.forge_result({"pool", false, session.id(), session.job_of(request.id)}, "a", body);
  Coordinator again(broker);
  again.evaluations().submit(request);
  ASSERT_TRUE(again.results().wait_for(1));
  EXPECT_EQ(again.results().all().front().fault, "");
  EXPECT_EQ(broker.publications(), 0); // nobody judged again
}

TEST(RemoteEvaluations, ResultsOfJobsThatNobodyKnowsDoNotFillTheMemory) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const std::string body(std::size_t{1} << 20U, 'x');
  const auto send_80 = [&](const std::string& worker) {
    for (int i = 0; i < 80; ++i) {
      broker.forge_result({"pool", false, RemoteSession{"pool", {}, "secret"}.id(),
                           worker + "-job" + std::to_string(i)},
                          worker, body);
    }
  };
  send_80("bad");
  ASSERT_TRUE(comes_true([&] { return broker.kept_results() <= 16; }));
  EXPECT_EQ(broker.kept_results(), 16U) << "a worker has a quarter of the room";
  for (const char* worker : {"b", "c", "d", "e"}) {
    send_80(worker);
  }
  ASSERT_TRUE(comes_true([&] { return broker.kept_results() <= 64; }));
  EXPECT_EQ(broker.kept_results(), 64U) << "the first 64 MB may be of requests to come";
}

TEST(RemoteEvaluations, ABrokerThatComesBackEmptyGetsTheJobsAgain) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto requests = submit_many(coordinator, 5);
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 5; }));
  broker.go_down();
  broker.come_back(true);
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 10; }));
  const auto transport = broker.worker(named("a"));
  test::WorkerOnThread worker(*transport, judge_correct);
  ASSERT_TRUE(coordinator.results().wait_for(5));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, ABrokerMayComeBackEmptyAnyNumberOfTimes) {
  test::BrokerFake broker;
  Patience patience;
  patience.publish_again = milliseconds(10); // how often the coordinator looks
  Coordinator coordinator(broker, patience);
  const auto requests = submit_many(coordinator, 1);
  for (int times = 1; times <= 15; ++times) {
    ASSERT_TRUE(comes_true([&] { return broker.publications() >= times; }));
    broker.come_back(true);
  }
  const auto transport = broker.worker(named("a"));
  test::WorkerOnThread worker(*transport, judge_correct);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  expect_one_each(coordinator.results(), requests);
}

TEST(RemoteEvaluations, AJobThatSomebodyRemovedIsPublishedAgain) {
  test::BrokerFake broker;
  Patience patience;
  patience.publish_again = milliseconds(20);
  Coordinator coordinator(broker, patience);
  submit_many(coordinator, 1);
  const auto careless = broker.worker(named("a"));
  for (int i = 0; i < 2; ++i) {
    std::optional<DeliveredJob> job;
    ASSERT_TRUE(comes_true([&] { return (job = careless->fetch(milliseconds(100))).has_value(); }));
    careless->finish(*job); // without a result
  }
  // It does not go on for ever.
  std::atomic<bool> over{false};
  std::thread removing([&] {
    while (!over) {
      if (const auto job = careless->fetch(milliseconds(20))) {
        careless->finish(*job);
      }
    }
  });
  EXPECT_TRUE(coordinator.results().wait_for(1));
  over = true;
  removing.join();
  EXPECT_THAT(coordinator.results().all().front().fault, HasSubstr("lost 10 times"));
  EXPECT_THAT(coordinator.warnings(), HasSubstr("has removed a job without a result: one of "));
}

TEST(RemoteEvaluations, AJobThatSomebodyKeepsSilentlyGoesToAnother) {
  test::BrokerFake broker;
  Patience patience;
  patience.publish_again = milliseconds(50);
  Coordinator coordinator(broker, patience);
  const auto requests = submit_many(coordinator, 1);
  const auto silent = broker.worker(named("silent"));
  std::optional<DeliveredJob> job;
  ASSERT_TRUE(comes_true([&] { return (job = silent->fetch(milliseconds(100))).has_value(); }));
  const auto transport = broker.worker(named("honest"));
  test::WorkerOnThread worker(*transport, judge_correct);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  expect_one_each(coordinator.results(), requests);
  EXPECT_THAT(coordinator.warnings(), HasSubstr("keeps a job without saying so: one of "));
}

TEST(RemoteEvaluations, AWorkerThatKeepsEveryJobEndsInAFault) {
  test::BrokerFake broker;
  Patience patience;
  patience.publish_again = milliseconds(20);
  Coordinator coordinator(broker, patience);
  submit_many(coordinator, 1);
  const auto silent = broker.worker(named("silent"));
  EXPECT_TRUE(comes_true([&] {
    silent->fetch(milliseconds(5));
    return !coordinator.results().all().empty();
  }));
  EXPECT_THAT(coordinator.results().all().front().fault,
              HasSubstr("5 times a worker kept the job"));
}

TEST(RemoteEvaluations, AJobThatNoWorkerFinishesIsAFaultOfTheMachine) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  std::vector<std::unique_ptr<WorkerTransport>> transports;
  std::vector<std::unique_ptr<test::WorkerOnThread>> workers;
  for (const char* name : {"a", "b"}) { // each stops after three faults in a row
    transports.push_back(broker.worker(named(name)));
    workers.push_back(std::make_unique<test::WorkerOnThread>(
        *transports.back(), [](const EvaluationRequest&, const auto&) {
          tasks::Evaluation fault = test::evaluation_of_pool(tasks::Verdict::Infrastructure);
          fault.detail = "the GPU fell off the bus";
          return std::vector{fault};
        }));
  }
  submit_many(coordinator, 1);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_THAT(coordinator.results().all().front().fault, HasSubstr("5 workers"));
  EXPECT_TRUE(comes_true([&] {
    return workers[0]->failure().find("keeps failing: the GPU fell off") != std::string::npos ||
           workers[1]->failure().find("keeps failing: the GPU fell off") != std::string::npos;
  }));
}

TEST(RemoteEvaluations, AResultThatIsTooLargeForTheBrokerIsAFaultThatSaysSo) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto transport = broker.worker(named("a"));
  constexpr std::size_t kMost = 100'000; // more than a job
  broker.take_at_most(kMost);
  test::WorkerOnThread worker(*transport, [](const EvaluationRequest& request, const auto& stop) {
    std::vector<tasks::Evaluation> large = judge_correct(request, stop);
    large.front().detail = std::string(kMost, 'x');
    return large;
  });
  submit_many(coordinator, 1);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_THAT(coordinator.results().all().front().fault,
              testing::AllOf(HasSubstr("bytes, but the broker takes messages of at most 100000"),
                             HasSubstr("raise max_payload")));
  EXPECT_EQ(worker.failure(), "") << "the machine is in order";
}

TEST(RemoteEvaluations, AFaultCanBeTriedAgain) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const EvaluationRequest request = request_of("kernel");
  coordinator.evaluations().submit(request);
  coordinator.evaluations().cancel(request.id);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_EQ(coordinator.results().all().front().fault, "cancelled");
  const auto transport = broker.worker(named("a"));
  test::WorkerOnThread worker(*transport, judge_correct);
  coordinator.evaluations().submit(request);
  ASSERT_TRUE(coordinator.results().wait_for(2));
  EXPECT_EQ(coordinator.results().all().back().fault, "");
}

TEST(RemoteEvaluations, CancellingStopsTheWorker) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const auto transport = broker.worker(named("a"));
  std::latch begun(1), ended(1);
  test::WorkerOnThread worker(*transport, [&](const EvaluationRequest& request, const auto& stop) {
    begun.count_down();
    auto nothing = never(request, stop);
    ended.count_down();
    return nothing;
  });
  const EvaluationRequest request = request_of("kernel");
  coordinator.evaluations().submit(request);
  begun.wait();
  coordinator.evaluations().cancel(request.id);
  ASSERT_TRUE(coordinator.results().wait_for(1));
  ended.wait();
  EXPECT_TRUE(comes_true([&] { return broker.queued() == 0; }));
  EXPECT_EQ(broker.stored_results(), 0);
}

TEST(RemoteEvaluations, AResultThatCannotBeRightDoesNotCount) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  const EvaluationRequest request = request_of("kernel");
  const JobAddress address = coordinator.address_of(request);
  coordinator.evaluations().submit(request);
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 1; }));
  broker.forge_result(address, "bad", "no result");
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 2; }));
  EvaluationResult result{request.id, "cpu", judge_correct(request, {}), {}};
  result.evaluations.front().device_name = "another processor";
  broker.forge_result(address, "bad", encode(result));
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 3; }));
  result.evaluations.push_back(result.evaluations.front());
  broker.forge_result(address, "bad", encode(result));
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_THAT(coordinator.results().all().front().fault,
              HasSubstr("worker 'bad' sent not one evaluation"));
}

TEST(RemoteEvaluations, ABrokerThatStaysAwayIsAFault) {
  test::BrokerFake broker;
  Patience patience;
  patience.broker = milliseconds(100);
  Coordinator coordinator(broker, patience);
  broker.go_down();
  coordinator.evaluations().submit(request_of("kernel"));
  ASSERT_TRUE(coordinator.results().wait_for(1));
  EXPECT_THAT(coordinator.results().all().front().fault, HasSubstr("has not answered"));
}

evaluators::SittingRequest final_of(const EvaluationRequest& request) {
  evaluators::SittingRequest sitting;
  sitting.id = "final";
  auto& board = sitting.boards.emplace_back();
  board.task = request.task;
  board.finalists.push_back({request.text, "a.cu", {}, tasks::kernel_digest(request.text, {})});
  return sitting;
}

TEST(RemoteEvaluations, OnlyATrustedWorkerHoldsSittings) {
  test::BrokerFake broker;
  Patience patience;
  patience.trusted_worker = milliseconds(300);
  Coordinator coordinator(broker, patience);
  const auto a = broker.worker(named("a")), b = broker.worker(named("b", true));
  test::WorkerOnThread any(*a, judge_correct);
  const auto sitting = final_of(request_of("kernel"));
  std::stop_source stop;
  const auto refused = coordinator.evaluations().hold(sitting, stop.get_token(), [](int, int) {});
  EXPECT_THAT(refused.boards.at(0).fault, HasSubstr("no trusted worker of pool 'pool' is alive"));
  test::WorkerOnThread trusted(*b, judge_correct, true);
  const auto answer = coordinator.evaluations().hold(sitting, stop.get_token(), [](int, int) {});
  EXPECT_EQ(answer.boards.at(0).fault, "");
  EXPECT_EQ(answer.id, "final");
  EXPECT_EQ(answer.worker, "b cpu");
}

TEST(RemoteEvaluations, ARequestToStopEndsAHold) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  std::stop_source stop;
  stop.request_stop();
  const auto answer = coordinator.evaluations().hold(final_of(request_of("kernel")),
                                                     stop.get_token(), [](int, int) {});
  EXPECT_EQ(answer.boards.at(0).fault, "cancelled");
}

TEST(RemoteEvaluations, StopLeavesNothingBehind) {
  test::BrokerFake broker;
  Coordinator coordinator(broker);
  submit_many(coordinator, 3);
  ASSERT_TRUE(comes_true([&] { return broker.publications() == 3; }));
  coordinator.evaluations().stop();
  EXPECT_EQ(broker.queued(), 0U);
  EXPECT_TRUE(coordinator.results().all().empty());
}

} // namespace
} // namespace winnow::remote
