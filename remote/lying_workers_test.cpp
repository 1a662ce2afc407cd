// Pools with simulated workers, of which one may lie.
#include "base/digest.h"
#include "base/draws.h"
#include "remote/remote_evaluations.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/evaluation_fake.h"
#include "remote/testing/pool_fake.h"

#include <atomic>
#include <cmath>
#include <iostream>
#include <map>
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

/// What an honest machine finds: a third of the kernels is wrong, and the others differ in speed.
test::SimulatedKernel truth(const EvaluationRequest& request) {
  if (request.text.find("return;") != std::string::npos) {
    return {1, 0.02, Verdict::UnwrittenOutput}; // a canary
  }
  if (request.text.find("// kernel") == std::string::npos) {
    return {1, 0.02, Verdict::Correct}; // the baseline, as a canary
  }
  Draws draws(1, request.text);
  const bool is_wrong = draws.uniform() < 1.0 / 3;
  return {0.6 + draws.uniform(), 0.02, is_wrong ? Verdict::Wrong : Verdict::Correct};
}

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

/// On a machine that is slower or faster against its baseline than others of its model.
test::Judge honest(double factor = 1) {
  return [factor](const EvaluationRequest& request, const std::stop_token&) {
    test::SimulatedKernel kernel = truth(request);
    kernel.speedup *= kernel.speedup == 1 ? 1 : factor;
    return std::vector{test::simulated_evaluation(request, kernel)};
  };
}

/// Counts the jobs of the liar until the coordinator knows.
void expect_caught(const std::string& what, const test::Judge& lie) {
  std::atomic<std::size_t> jobs{0};
  Pool pool({{"a", honest()},
             {"b", honest()},
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

TEST(LyingWorkers, OneThatCallsEverythingCorrectIsCaught) {
  expect_caught("calls everything correct", [](const auto& request, const auto&) {
    test::SimulatedKernel kernel = truth(request);
    kernel.verdict = Verdict::Correct;
    return std::vector{test::simulated_evaluation(request, kernel)};
  });
}

TEST(LyingWorkers, OneThatHalvesItsTimesIsCaught) {
  expect_caught("halves its times", [](const auto& request, const auto&) {
    test::SimulatedKernel kernel = truth(request);
    kernel.speedup *= 2;
    return std::vector{test::simulated_evaluation(request, kernel)};
  });
}

TEST(LyingWorkers, OneThatHalvesTimesAfterwardsIsCaught) {
  expect_caught("halves its medians", [](const auto& request, const auto&) {
    Evaluation evaluation = test::simulated_evaluation(request, truth(request));
    for (tasks::CaseResult& timed : evaluation.cases) {
      timed.median_ns /= 2;
      timed.speedup *= 2;
    }
    evaluation.speedup *= 2;
    return std::vector{evaluation};
  });
}

TEST(LyingWorkers, OneThatRepeatsItsResultsIsCaught) {
  auto first = std::make_shared<std::vector<Evaluation>>();
  expect_caught("repeats its results", [first](const auto& request, const auto&) {
    if (first->empty()) {
      first->push_back(test::simulated_evaluation(request, {}));
    }
    return *first;
  });
}

TEST(LyingWorkers, OneThatRepeatsItsSamplesWithFreshSeedsIsCaught) {
  auto first = std::make_shared<std::optional<Evaluation>>();
  expect_caught("repeats its samples", [first](const auto& request, const auto&) {
    Evaluation fresh = test::simulated_evaluation(request, {});
    if (!*first) {
      *first = fresh;
    }
    Evaluation repeated = **first;
    repeated.seed = fresh.seed;
    for (std::size_t i = 0; i < repeated.cases.size(); ++i) {
      repeated.cases[i].seed = fresh.cases.at(i).seed;
    }
    return std::vector{repeated};
  });
}

TEST(LyingWorkers, NoHonestWorkerIsQuarantined) {
  constexpr int kJobs = 200;
  Pool pool({{"a", honest(0.97)}, {"b", honest()}, {"c", honest(1.03)}});
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

TEST(LyingWorkers, WithoutASecondWorkerNothingLeads) {
  Pool pool({{"a", honest()}});
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
  Pool pool({{"a", honest()}}, "a");
  ASSERT_TRUE(pool.judge(20));
  for (const auto& result : pool.results().all()) {
    EXPECT_EQ(result.evaluations.front().unranked, "");
  }
}

TEST(LyingWorkers, ATrustedWorkerOverrulesALiar) {
  std::atomic<int> jobs{0};
  Pool pool({{"a", honest()},
             {"liar",
              [&](const EvaluationRequest& request, const std::stop_token&) {
                ++jobs;
                test::SimulatedKernel kernel = truth(request);
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
