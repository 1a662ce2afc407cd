#pragma once

#include "base/recent.h"
#include "evaluators/evaluation/evaluations.h"
#include "remote/job_message.h"
#include "remote/job_transport.h"
#include "remote/worker_roster.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace winnow::remote {

/// Fetches jobs of a pool, has them evaluated on this machine, and sends the results. A result is
/// stored at the broker before its job is finished there, so no result is lost when a worker dies.
/// The next job is fetched while a result is sent.
class RemoteWorker {
public:
  struct Setup {
    WorkerTransport& transport;
    /// On the devices of this machine.
    evaluators::EvaluationsFactory evaluations;
    Heartbeat self;            ///< `held` and `last_fault` are filled in
    std::string name = {};     ///< of this worker
    std::size_t most_held = 1; ///< jobs at a time, besides those whose result is being sent
    std::function<void(const std::string&)> say; ///< a line for people; any thread
    /// A job that takes longer goes to another worker. A sitting: without a step for so long.
    std::chrono::milliseconds hard_limit{900'000};
    std::chrono::milliseconds extend_every = kLease / 3;
    std::chrono::milliseconds heartbeat_every = kHeartbeatEvery;
    std::chrono::milliseconds give_back_delay{5'000};
    /// For the next job, before it looks around. drain() may take so long.
    std::chrono::milliseconds fetch_wait{1'000};
  };
  explicit RemoteWorker(Setup setup);
  ~RemoteWorker();
  RemoteWorker(const RemoteWorker&) = delete; // owns threads
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  /// Works until drain(), and then until the evaluations that it holds are done; a sitting goes
  /// back to the broker at once. Throws Error if the machine keeps failing, or if this worker does
  /// not fit the pool (any more).
  void run();
  /// Any thread may call this.
  void drain() { draining_.request_stop(); }
  std::size_t finished_jobs() const;

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostTasks = 32;
  static constexpr std::chrono::milliseconds kRetryAfter{500};
  static constexpr const char* kCancelled = "cancelled"; ///< the fault of a stopped sitting
  struct Held {
    DeliveredJob job;
    JobKind kind = JobKind::Evaluation;
    std::string request_id;                ///< of the coordinator
    std::string publication;               ///< Job::publication
    Clock::time_point step = Clock::now(); ///< the last sign of progress
    int made = 0, all = 0;                 ///< HeldJob
    bool is_done = false;                  ///< its result is being sent
    bool cancelled = false;
    std::stop_source stop; ///< of a sitting
  };
  struct Outgoing {
    std::string job;
    std::string fault; ///< empty: there is a result
    /// Of an evaluation, until the sending thread encodes it.
    std::optional<evaluators::EvaluationResult> evaluation = {};
    std::string result = {}; ///< empty: the job goes back, or nobody wants it
  };

  void wait_for_pool();
  void check_rules(const PoolRules& rules) const;
  void fetch_one();
  bool has_room() const;
  bool has_again(const DeliveredJob& job);
  void accept(const DeliveredJob& job);
  std::shared_ptr<const tasks::Task> task_of(const std::string& digest);
  void begin_evaluation(const Job& message, Held held);
  void begin_sitting(const Job& message, Held held);
  void hold_sitting(const evaluators::SittingRequest& request, const std::string& job,
                    const std::stop_token& stop);
  void add(Held held);
  void take(evaluators::EvaluationResult result);
  void send(Outgoing outgoing);

  void send_results(const std::stop_token& stop);
  void forget(const Held& held);
  void deliver(const Outgoing& outgoing, const Held& held, const std::stop_token& stop);
  void store_result(const Outgoing& outgoing, const Held& held, const std::stop_token& stop);
  void keep_leases(const std::stop_token& stop);
  void check_rules_again();
  void extend_leases();
  void take_cancellations();
  void send_heartbeat();
  void give_all_back(std::unique_lock<std::mutex>& lock);
  void fail(const std::string& why);
  bool wait(std::chrono::milliseconds time, const std::stop_token& stop);

  Setup setup_;
  std::stop_source draining_;
  std::unique_ptr<evaluators::Evaluations> evaluations_;
  /// By digest; used by the thread that fetches.
  Recent<std::string, std::shared_ptr<const tasks::Task>> tasks_{kMostTasks};

  mutable std::mutex mutex_; ///< guards the members below, except the threads
  std::condition_variable_any changed_;
  std::map<std::string, Held> held_; ///< by job
  std::deque<Outgoing> outgoing_;
  std::string last_fault_, failure_;
  int faults_in_a_row_ = 0; ///< of the machine
  std::size_t finished_ = 0;

  std::list<std::jthread> sittings_;
  std::jthread sender_, keeper_; ///< last, because they use all other members
};

} // namespace winnow::remote
