// Workers whose results do not count, among others.
#include "remote/remote_evaluations.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/pool_fake.h"
#include "remote/worker_roster.h"

#include <memory>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Quarantine, IsForAWorkerWhoseResultsKeepBeingRefused) {
  Quarantine quarantine({"known"});
  EXPECT_TRUE(quarantine.has("known"));
  EXPECT_FALSE(quarantine.add("known"));
  EXPECT_FALSE(quarantine.refuse("bad"));
  EXPECT_FALSE(quarantine.refuse("bad"));
  quarantine.count("bad");
  quarantine.count("good");
  EXPECT_FALSE(quarantine.refuse("bad"));
  EXPECT_TRUE(quarantine.refuse("bad"));
  EXPECT_FALSE(quarantine.refuse("bad")) << "it is quarantined already";
  EXPECT_THAT(quarantine.workers(), ElementsAre("bad", "known"));
  EXPECT_FALSE(quarantine.has("good"));
}

class Pool : public testing::Test {
protected:
  void begin() {
    transport_ = broker_.coordinator(session_.id());
    transport_->set_pool_rules("pool", encode(session_.rules));
    Patience patience;
    patience.results = patience.pass_on = milliseconds(5);
    evaluations_ = std::make_unique<RemoteEvaluations>(
        RemoteEvaluations::Setup{*transport_, roster_, session_, results_.taker(),
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
  bool is_quarantined(const std::string& worker) const {
    return warnings().find("worker '" + worker + "' is quarantined") != std::string::npos;
  }
  void submit(int count) {
    for (int i = 0; i < count; ++i) {
      evaluations_->submit(test::request_of("kernel " + std::to_string(i)));
    }
  }
  /// A result of a job, which there may not be.
  void forge(const std::string& job, const std::string& worker, const std::string& body) {
    broker_.forge_result({"pool", false, session_.id(), job}, worker, body);
  }
  std::string rules() { return transport_->pool_rules("pool").value_or(""); }

  test::BrokerFake broker_;
  RemoteSession session_{"pool", test::pool_rules(), "secret"};
  WorkerRoster roster_{"pool"};
  test::Results results_;
  mutable std::mutex mutex_; ///< guards warnings_
  std::string warnings_;
  std::unique_ptr<CoordinatorTransport> transport_;
  std::unique_ptr<RemoteEvaluations> evaluations_;
};

using QuarantineOfAPool = Pool;

TEST_F(QuarantineOfAPool, AWorkerThatKeepsSendingUselessResultsIsNamedAndJudgesNoMore) {
  begin();
  submit(Quarantine::kMostMarks);
  for (int i = 0; i < Quarantine::kMostMarks; ++i) {
    const EvaluationRequest request = test::request_of("kernel " + std::to_string(i));
    EvaluationResult result{request.id, "cpu", test::judge_correct(request, {}), {}};
    result.evaluations.front().cases.clear();
    forge(session_.job_of(request.id), "bad", encode(result));
  }
  const auto a = broker_.worker({"a", "pool", false});
  const test::WorkerOnThread worker(*a, test::judge_correct);
  ASSERT_TRUE(results_.wait_for(Quarantine::kMostMarks)) << warnings();
  for (const EvaluationResult& result : results_.all()) {
    EXPECT_EQ(result.worker, "a cpu") << result.fault;
  }
  EXPECT_THAT(warnings(), HasSubstr("worker 'bad' is quarantined: worker 'bad' sent no result "));
  EXPECT_THAT(rules(), HasSubstr(R"("quarantined":["bad"])"));
}

TEST_F(QuarantineOfAPool, AResultOfAQuarantinedWorkerDoesNotCount) {
  session_.rules.quarantined = {"bad"};
  begin();
  const EvaluationRequest request = test::request_of("kernel 0");
  const EvaluationResult result{request.id, "cpu", test::judge_correct(request, {}), {}};
  submit(1);
  forge(session_.job_of(request.id), "bad", encode(result));
  EXPECT_FALSE(results_.wait_for(1, milliseconds(300)));
  forge(session_.job_of(request.id), "a", encode(result));
  ASSERT_TRUE(results_.wait_for(1));
  EXPECT_EQ(results_.all().front().worker, "a cpu");
}

TEST_F(QuarantineOfAPool, AQuarantinedWorkerThatTakesAJobAgainAndAgainIsNamed) {
  session_.rules.quarantined = {"bad"};
  begin();
  const auto bad = broker_.worker({"bad", "pool", false});
  test::WorkerOnThread worker(*bad, test::judge_correct); // does not know its own name
  submit(1);
  ASSERT_TRUE(results_.wait_for(1));
  EXPECT_THAT(results_.all().front().fault, HasSubstr("the worker 'bad', which is quarantined"));
}

TEST_F(QuarantineOfAPool, AFloodOfResultsIsNamedAndRemoved) {
  constexpr int kFlood = 10'001;
  begin();
  const auto a = broker_.worker({"a", "pool", false});
  test::WorkerOnThread worker(*a, test::judge_correct);
  for (int i = 0; i < kFlood; ++i) {
    forge("made-up-" + std::to_string(i), "bad", "{}");
  }
  submit(5);
  ASSERT_TRUE(results_.wait_for(5)) << warnings();
  while (!is_quarantined("bad")) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_THAT(warnings(), HasSubstr("it floods the broker with results"));
  EXPECT_FALSE(is_quarantined("a")) << warnings();
}

TEST_F(QuarantineOfAPool, IsEmptyWhileAllWorkersAreInOrder) {
  begin();
  const auto a = broker_.worker({"a", "pool", false}), b = broker_.worker({"b", "pool", true});
  test::WorkerOnThread first(*a, test::judge_correct), second(*b, test::judge_correct, true);
  submit(100);
  ASSERT_TRUE(results_.wait_for(100)) << warnings();
  EXPECT_THAT(warnings(), Not(HasSubstr("quarantined")));
  EXPECT_EQ(broker_.publications(), 100) << "each kernel is judged once";
}

} // namespace
} // namespace winnow::remote
