#pragma once

#include "remote/job_transport.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace winnow::remote::test {

/// A broker in this process, which keeps the promises of CoordinatorTransport and WorkerTransport.
/// It must outlive its connections. Leases end only by lose_worker().
class BrokerFake : public TransportFactory {
public:
  std::unique_ptr<CoordinatorTransport> coordinator(const std::string& session);
  std::unique_ptr<WorkerTransport> worker(const WorkerIdentity& identity);
  std::unique_ptr<CoordinatorTransport> coordinator(const BrokerAddress& broker,
                                                    const std::string& session) override;
  std::unique_ptr<WorkerTransport> worker(const BrokerAddress& broker,
                                          const WorkerIdentity& identity) override;

  /// Every call throws BrokerUnavailable until come_back().
  void go_down();
  void come_back(bool empty);
  /// The leases of the worker's jobs end.
  void lose_worker(const std::string& name);
  /// False: a worker that stores a result waits until the broker confirms again.
  void confirm_results(bool confirms);
  void take_at_most(std::size_t message_bytes);
  /// From now on no worker gets the jobs that are queued, although the broker keeps them.
  void strand_jobs();
  /// Puts a result into the broker as if the worker had published it.
  void forge_result(const JobAddress& address, const std::string& worker, const std::string& body);

  std::size_t queued() const;       ///< jobs, also those at work
  int publications() const;         ///< jobs that the broker has taken so far
  int stored_results() const;       ///< results that the broker has taken so far
  std::size_t kept_results() const; ///< results that nobody has acknowledged

private:
  friend class CoordinatorFake;
  friend class WorkerFake;
  static constexpr const char* kNobody = "nobody"; ///< holds a stranded job
  struct StoredJob {
    JobAddress address;
    std::string body;
    std::uint64_t sequence = 0;
    int deliveries = 0;
    std::string holder; ///< empty: it is queued
    std::chrono::steady_clock::time_point available;
  };
  struct StoredResult {
    std::string session;
    ArrivedResult result;
    std::uint64_t sequence = 0;
    bool is_handed_out = false;
  };

  void require_up() const;
  void release(StoredJob& job, std::chrono::milliseconds delay);
  std::list<StoredJob>::iterator find(std::uint64_t sequence);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_up_ = true, confirms_ = true;
  std::size_t max_message_bytes_ = std::size_t{8} << 20U;
  std::uint64_t reconnections_ = 0, last_sequence_ = 0;
  int publications_ = 0, stored_results_ = 0;
  std::list<StoredJob> jobs_;
  std::list<StoredResult> results_;
  std::set<std::string> message_ids_;
  std::map<std::string, std::string> rules_, tasks_;
  std::vector<JobAddress> dead_;
  std::map<const void*, std::deque<WorkerMessage>> listening_; ///< by coordinator
  std::map<const void*, std::deque<Cancellation>> cancelled_;  ///< by worker
  std::set<const void*> asked_;                                ///< workers
};

} // namespace winnow::remote::test
