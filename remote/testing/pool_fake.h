#pragma once

#include "evaluators/evaluation/local_evaluations.h"
#include "remote/remote_evaluations.h"
#include "remote/remote_worker.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace winnow::remote::test {

/// What a device answers.
using Judge = std::function<std::vector<tasks::Evaluation>(const evaluators::EvaluationRequest&,
                                                           const std::stop_token&)>;

/// An evaluation with this verdict on the device of pool_rules().
tasks::Evaluation evaluation_of_pool(tasks::Verdict verdict);
/// Answers `correct` with the requested parameters.
std::vector<tasks::Evaluation> judge_correct(const evaluators::EvaluationRequest& request,
                                             const std::stop_token& stop);
PoolRules pool_rules();
/// A worker that fits the rules.
Heartbeat heartbeat_of_pool(bool trusted = false);
/// Of a task of the catalogue.
evaluators::EvaluationRequest request_of(const std::string& text);

/// A worker with one device that `judge` simulates; works on a thread of its own.
class WorkerOnThread {
public:
  /// `hasty`: with short waits, for short tests.
  WorkerOnThread(WorkerTransport& transport, Judge judge, bool trusted = false, bool hasty = true,
                 const std::string& name = {});
  ~WorkerOnThread();
  void drain_and_join();
  /// Why run() has thrown; empty: it has not.
  std::string failure() const;
  std::size_t finished_jobs() const { return worker_->finished_jobs(); }

private:
  mutable std::mutex mutex_; ///< guards failure_
  std::string failure_;
  std::unique_ptr<RemoteWorker> worker_;
  std::thread thread_;
};

/// The results of a coordinator, by request.
class Results {
public:
  evaluators::TakeResult taker();
  /// Waits for so many results; false: they did not come in time.
  bool wait_for(std::size_t count, std::chrono::milliseconds time = std::chrono::seconds(10));
  /// How often each request had a result.
  std::map<std::string, int> counts() const;
  std::vector<evaluators::EvaluationResult> all() const;

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<evaluators::EvaluationResult> results_;
};

} // namespace winnow::remote::test
