#pragma once

#include "evaluators/evaluation/evaluations.h"
#include "remote/checking_threads.h"
#include "remote/job_message.h"
#include "remote/job_transport.h"
#include "remote/task_parcels.h"
#include "remote/worker_roster.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace winnow::remote {

/// How long a coordinator waits for what.
struct Patience {
  /// After so long a job without a result is published again, which does nothing if the broker has
  /// the job. As long as results wait at the broker, the job's may be among them.
  std::chrono::milliseconds publish_again{60'000};
  /// After so long without the broker every request gets a fault.
  std::chrono::milliseconds broker{600'000};
  /// After so long without a trusted worker a sitting gets a fault.
  std::chrono::milliseconds trusted_worker{60'000};
  /// After a quarantined worker has taken a job; doubles each time.
  std::chrono::milliseconds pass_on{250};
  /// For the next result, before it looks around. stop() may take so long.
  std::chrono::milliseconds results{1'000};
};

/// Who asks, and whom.
struct RemoteSession {
  std::string pool;
  PoolRules rules;
  /// Random. From it follow the ids of the session and of its jobs, so that a coordinator that
  /// continues a session finds its jobs again. Workers never see it.
  std::string secret;

  std::string id() const;
  std::string job_of(const std::string& request_id) const;
};

/// Evaluations at the workers of a pool, which are the user's own machines: what they measure
/// counts. A result that is no answer to its request does not (remote/result_check.h), and a worker
/// that keeps sending such results is quarantined. The broker keeps jobs and results, so workers,
/// coordinator and broker may die at any time: a request has exactly one result, which may be a
/// fault.
class RemoteEvaluations : public evaluators::Evaluations {
public:
  struct Setup {
    CoordinatorTransport& transport;
    WorkerRoster& roster;
    RemoteSession session;
    evaluators::TakeResult done;                  ///< runs on threads of this object
    std::function<void(const std::string&)> warn; ///< gets a line for people; any thread
    Patience patience = {};
  };
  /// Takes results of the session that have arrived before. Throws BrokerRefused.
  explicit RemoteEvaluations(Setup setup);
  ~RemoteEvaluations() override;
  RemoteEvaluations(const RemoteEvaluations&) = delete; // owns threads
  RemoteEvaluations& operator=(const RemoteEvaluations&) = delete;

  void submit(evaluators::EvaluationRequest request) override;
  void cancel(const std::string& id) override;
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request,
                                 const std::stop_token& stop,
                                 const evaluators::HoldProgress& progress) override;
  void stop() override;

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kRetryAfter{500};
  struct Pending {
    JobAddress address;
    JobKind kind = JobKind::Evaluation;
    evaluators::EvaluationRequest request; ///< of an evaluation
    /// Of a sitting; valid as long as the job is pending.
    const evaluators::SittingRequest* sitting = nullptr;
    std::string sitting_text; ///< encoded
    std::shared_ptr<std::promise<evaluators::SittingAnswer>> answer;
    Clock::time_point publish_at = {}; ///< the sending thread publishes the job then; {}: at once
    bool is_out = false;               ///< published, and no result has come
    int publications = 0;              ///< that the broker took since it was there last
    int unclaimed = 0; ///< looks at which a worker had the job, and none said so; see stall()
    int stalls = 0;
    int refused_results = 0;
    int useless_results = 0; ///< of quarantined workers
  };

  Clock::duration until_next_job() const;
  void send_jobs();
  void send_due_jobs();
  void publish(const std::string& job);
  Job message_of(const Pending& pending);
  std::vector<std::string> due_jobs();
  void set_out(const std::string& job, bool is_out);
  bool hand_over(const JobAddress& address, const std::string& body);
  bool stall(const std::string& job, bool is_handed_out);
  void warn_of_loss(const std::string& what);
  void count_publication(const std::string& job, bool is_taken, bool was_out);
  void after_reconnection();
  void withdraw_finished();
  void tend();
  void complain(const std::string& trouble);
  void fail_all(const std::string& fault);
  void take_faults();
  void fail(const std::string& job, const std::string& fault);

  void receive();
  void check(const ArrivedResult& result);
  void handle(const ArrivedResult& result);
  void take_unasked(const ArrivedResult& result);
  bool keep_early(const ArrivedResult& result, std::size_t bytes_of_worker);
  void take(const Pending& pending, const ArrivedResult& result);
  void refuse(const ArrivedResult& result, const std::string& why);
  int send_again(const ArrivedResult& result, int Pending::*count, std::chrono::milliseconds delay);
  PoolRules rules() const;
  void pass_on(const ArrivedResult& result);
  void announce_quarantine(const std::string& worker, const std::string& why);
  std::optional<Pending> remove(const std::string& job);
  std::optional<Pending> find(const std::string& job) const;
  bool pause(std::chrono::milliseconds time);
  evaluators::SittingAnswer wait_for_answer(const evaluators::SittingRequest& request,
                                            const std::string& job,
                                            std::future<evaluators::SittingAnswer> answer,
                                            const std::stop_token& stop,
                                            const evaluators::HoldProgress& progress);

  Setup setup_;
  const std::string session_;
  Quarantine quarantine_;
  TaskParcels parcels_;              ///< used by the sending thread
  std::uint64_t reconnections_ = 0;  ///< used by the sending thread
  Clock::time_point heard_;          ///< used by the sending thread: the broker was there
  Clock::time_point tended_;         ///< used by the sending thread
  Clock::time_point complained_;     ///< used by the sending thread
  Clock::time_point warned_of_loss_; ///< as well

  mutable std::mutex mutex_; ///< guards the members below, except the threads
  std::condition_variable changed_;
  std::map<std::string, Pending> pending_;     ///< by job
  std::map<std::string, ArrivedResult> early_; ///< by job: of a request to come
  std::size_t early_bytes_ = 0;                ///< of their bodies
  /// Results of jobs that nobody has asked for (yet), by worker.
  struct Unasked {
    std::size_t results = 0, bytes = 0;
  };
  std::map<std::string, Unasked> unasked_;
  std::set<std::string> answered_; ///< jobs whose result counts
  /// By job: a worker may have died between its result and the end of the job.
  std::map<std::string, JobAddress> finished_;
  std::vector<ArrivedResult> arrived_;                  ///< for the sending thread
  std::vector<std::pair<Pending, std::string>> faults_; ///< for the sending thread
  bool is_rescheduled_ = false; ///< a job is due earlier than the sending thread knows
  bool stopping_ = false;

  CheckingThreads checks_; ///< of results
  std::thread sender_, receiver_;
};

} // namespace winnow::remote
