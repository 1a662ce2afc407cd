// Pools with simulated workers, of which one may lie.
#include "remote/remote_evaluations.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/judges_fake.h"

#include <atomic>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using std::chrono::milliseconds;
using tasks::Evaluation;
using tasks::Verdict;
using testing::HasSubstr;

constexpr int kOutstanding = 6;
constexpr std::size_t kMostJobsOfALiar = 40;

using Workers = std::map<std::string, test::Judge>;

/// A coordinator with a broker and workers. Requests are submitted a few at a time, as a search
/// does.
class Pool {
public:
  explicit Pool(const Workers& workers, const std::string& trusted = {}) {
    session_.pool = "pool";
    session_.rules = test::pool_rules();
    session_.secret = "secret";
    coordinator_ = broker_.coordinator(session_.id());
    coordinator_->set_pool_rules("pool", encode(session_.rules));
    for (const auto& [name, judge] : workers) {
      connections_.push_back(broker_.worker({name, "pool", name == trusted}));
      workers_[name] =
          std::make_unique<test::WorkerOnThread>(*connections_.back(), judge, name == trusted);
    }
    Patience patience;
    patience.results = patience.pass_on = milliseconds(20);
    patience.other_worker = milliseconds(2000);
    evaluations_ = std::make_unique<RemoteEvaluations>(
        RemoteEvaluations::Setup{*coordinator_, roster_, session_, results_.taker(),
                                 [this](const std::string& line) { hear(line); }, patience});
    while (live() < workers.size()) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }

  /// Stops early when `name` is quarantined. False: a result did not come in time.
  bool judge(int count, const std::string& name = "nobody") {
    for (int i = 0; i < count && !is_quarantined(name); ++i) {
      evaluations_->submit(test::request_of("kernel " + std::to_string(i)));
      if (!results_.wait_for(static_cast<std::size_t>(std::max(0, i + 1 - kOutstanding)))) {
        return false;
      }
    }
    return is_quarantined(name) || results_.wait_for(static_cast<std::size_t>(count));
  }
  /// Sends a result of a job that there is not.
  void flood(const std::string& job, const std::string& worker) {
    broker_.forge_result({"pool", false, session_.id(), job}, worker, "{}");
  }
  bool is_quarantined(const std::string& name) const {
    return warnings().find("worker '" + name + "' is quarantined") != std::string::npos;
  }
  std::string warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }
  const test::Results& results() const { return results_; }
  const test::BrokerFake& broker() const { return broker_; }
  std::string rules() { return coordinator_->pool_rules("pool").value_or(""); }

private:
  void hear(const std::string& line) {
    const std::lock_guard lock(mutex_);
    warnings_ += line + "\n";
  }
  std::size_t live() {
    coordinator_->ask_workers();
    roster_.update(*coordinator_);
    return roster_.live().size();
  }

  test::BrokerFake broker_;
  RemoteSession session_;
  std::unique_ptr<CoordinatorTransport> coordinator_;
  WorkerRoster roster_{"pool"};
  test::Results results_;
  mutable std::mutex mutex_; ///< guards warnings_
  std::string warnings_;
  std::vector<std::unique_ptr<WorkerTransport>> connections_;
  std::map<std::string, std::unique_ptr<test::WorkerOnThread>> workers_;
  std::unique_ptr<RemoteEvaluations> evaluations_;
};

/// Counts the jobs of the liar until the coordinator knows.
void expect_caught(const std::string& what, const test::Judge& lie) {
  std::atomic<std::size_t> jobs{0};
  Pool pool({{"a", test::honest_judge()},
             {"b", test::honest_judge()},
             {"liar", [&](const EvaluationRequest& request, const std::stop_token& stop) {
                ++jobs;
                return lie(request, stop);
              }}});
  ASSERT_TRUE(pool.judge(400, "liar")) << pool.warnings();
  std::cout << what << ": caught after " << jobs << " jobs\n";
  EXPECT_TRUE(pool.is_quarantined("liar"));
  EXPECT_FALSE(pool.is_quarantined("a") || pool.is_quarantined("b")) << pool.warnings();
  EXPECT_LE(jobs, kMostJobsOfALiar);
  EXPECT_THAT(pool.rules(), HasSubstr(R"("quarantined":["liar"])"));
}

TEST(LyingWorkers, EachIsCaught) {
  for (const std::string& lie : test::lies()) {
    expect_caught(lie, test::lying_judge(lie));
  }
}

TEST(LyingWorkers, AFloodOfResultsIsNamedAndRemoved) {
  constexpr int kFlood = 10'001;
  Pool pool({{"a", test::honest_judge()}});
  for (int i = 0; i < kFlood; ++i) {
    pool.flood("made-up-" + std::to_string(i), "liar");
  }
  ASSERT_TRUE(pool.judge(5)) << pool.warnings();
  while (!pool.is_quarantined("liar")) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_THAT(pool.warnings(), HasSubstr("it floods the broker with results"));
  EXPECT_FALSE(pool.is_quarantined("a")) << pool.warnings();
}

TEST(LyingWorkers, NoHonestWorkerIsQuarantined) {
  constexpr int kJobs = 200;
  Pool pool({{"a", test::honest_judge(0.97)},
             {"b", test::honest_judge()},
             {"c", test::honest_judge(1.03)}});
  ASSERT_TRUE(pool.judge(kJobs)) << pool.warnings();
  EXPECT_THAT(pool.warnings(), testing::Not(HasSubstr("quarantined")));
  for (const auto& result : pool.results().all()) {
    EXPECT_EQ(result.fault, "");
    if (result.fault.empty()) {
      EXPECT_EQ(result.evaluations.front().unranked, "");
    }
  }
  std::cout << kJobs << " requests of honest workers: " << pool.broker().publications()
            << " jobs\n";
}

/// A CPU with many other busy programs: they change the speed of a kernel tenfold.
test::Judge disturbed_judge(unsigned seed) {
  return [random = std::make_shared<std::mt19937>(seed)](const EvaluationRequest& request,
                                                         const std::stop_token&) {
    test::SimulatedKernel kernel = test::kernel_of(request);
    if (kernel.speedup != 1) { // the baseline against itself is disturbed on both sides
      kernel.speedup *= std::pow(10, std::uniform_real_distribution<>(-0.5, 0.5)(*random));
    }
    return std::vector{test::simulated_evaluation(request, kernel)};
  };
}

TEST(LyingWorkers, NoHonestWorkerIsQuarantinedBecauseOtherProgramsDisturbItsCpu) {
  Pool pool({{"a", disturbed_judge(1)}, {"b", disturbed_judge(2)}, {"c", disturbed_judge(3)}}, "c");
  ASSERT_TRUE(pool.judge(100)) << pool.warnings();
  EXPECT_THAT(pool.warnings(), testing::Not(HasSubstr("quarantined")));
  EXPECT_THAT(pool.warnings(), testing::Not(HasSubstr("disagree")));
  for (const auto& result : pool.results().all()) {
    EXPECT_EQ(result.fault, "");
  }
}

TEST(LyingWorkers, WithoutASecondWorkerNothingLeads) {
  Pool pool({{"a", test::honest_judge()}});
  ASSERT_TRUE(pool.judge(20));
  double best = 0;
  for (const auto& result : pool.results().all()) {
    const Evaluation& evaluation = result.evaluations.front();
    if (evaluation.verdict == Verdict::Correct && evaluation.speedup > best) {
      best = evaluation.speedup;
      EXPECT_THAT(evaluation.unranked, HasSubstr("only the worker 'a', which is not trusted"));
    }
  }
  EXPECT_GT(best, 0);
}

TEST(LyingWorkers, ATrustedWorkerIsEnough) {
  Pool pool({{"a", test::honest_judge()}}, "a");
  ASSERT_TRUE(pool.judge(20));
  for (const auto& result : pool.results().all()) {
    EXPECT_EQ(result.evaluations.front().unranked, "");
  }
}

TEST(LyingWorkers, ATrustedWorkerOverrulesALiar) {
  std::atomic<int> jobs{0};
  Pool pool({{"a", test::honest_judge()},
             {"liar",
              [&](const EvaluationRequest& request, const std::stop_token&) {
                ++jobs;
                test::SimulatedKernel kernel = test::kernel_of(request);
                kernel.speedup *= 3;
                return std::vector{test::simulated_evaluation(request, kernel)};
              }}},
            "a");
  ASSERT_TRUE(pool.judge(300, "liar")) << pool.warnings();
  EXPECT_TRUE(pool.is_quarantined("liar"));
  EXPECT_LE(jobs, static_cast<int>(kMostJobsOfALiar));
}

} // namespace
} // namespace winnow::remote
