#pragma once

#include "remote/job_message.h"
#include "remote/job_transport.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
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

} // namespace winnow::remote
