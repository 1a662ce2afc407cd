#pragma once

#include "remote/job_message.h"
#include "remote/job_transport.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace winnow::remote {

/// A worker sends a heartbeat this often, and counts as lost after three missed ones.
inline constexpr std::chrono::seconds kHeartbeatEvery{5};

/// The workers of one pool, or of all pools if its name is empty, that have sent a heartbeat
/// lately. Any thread may use it.
class WorkerRoster {
public:
  struct Worker {
    std::string name;
    Heartbeat heartbeat;
  };

  explicit WorkerRoster(std::string pool) : pool_(std::move(pool)) {}
  /// Takes the heartbeats that have arrived. A message that is no heartbeat is ignored. Throws
  /// BrokerUnavailable, BrokerRefused.
  void update(CoordinatorTransport& transport);
  std::vector<Worker> live() const; ///< by name
  bool any_trusted() const;
  /// How far the worker is that has this job; nullopt: no worker says that it has.
  std::optional<HeldJob> held(const std::string& job) const;
  /// What the workers say about the jobs that they gave back; empty: nothing.
  std::string faults() const;
  std::string names() const; ///< "a, b"; "no worker"

private:
  struct Entry {
    Heartbeat heartbeat;
    std::chrono::steady_clock::time_point at;
  };

  std::string pool_;
  mutable std::mutex mutex_; ///< guards workers_
  std::map<std::string, Entry> workers_;
};

/// The workers of a pool whose results do not count any more. Any thread may use it.
class Quarantine {
public:
  /// A result that is refused gives its worker a mark, and a result that counts takes one away. So
  /// many marks quarantine the worker.
  static constexpr int kMostMarks = 3;

  explicit Quarantine(const std::vector<std::string>& workers);

  bool has(const std::string& worker) const;
  std::vector<std::string> workers() const;
  // True: the worker is quarantined now, and was not before.
  bool add(const std::string& worker);
  bool refuse(const std::string& worker); ///< a result of the worker
  void count(const std::string& worker);  ///< a result of the worker

private:
  mutable std::mutex mutex_; ///< guards the members below
  std::set<std::string> workers_;
  std::map<std::string, int> marks_;
};

} // namespace winnow::remote
