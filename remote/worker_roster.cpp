#include "remote/worker_roster.h"

#include <algorithm>
#include <utility>

namespace winnow::remote {

using Clock = std::chrono::steady_clock;

void WorkerRoster::update(CoordinatorTransport& transport) {
  for (const WorkerMessage& message : transport.heartbeats()) {
    try {
      Heartbeat heartbeat = decode_heartbeat(message.body);
      const bool is_wanted = pool_.empty() || message.pool == pool_;
      if (is_wanted && heartbeat.pool == message.pool) {
        const std::lock_guard lock(mutex_);
        workers_[message.worker] = {std::move(heartbeat), Clock::now()};
      }
    } catch (const BrokerUnavailable&) {
      throw;
    } catch (const Error&) { // another version of Winnow, or nobody's message
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(workers_, [](const auto& entry) {
    return Clock::now() - entry.second.at > 3 * kHeartbeatEvery;
  });
}

std::vector<WorkerRoster::Worker> WorkerRoster::live() const {
  const std::lock_guard lock(mutex_);
  std::vector<Worker> workers;
  for (const auto& [name, entry] : workers_) {
    workers.push_back({name, entry.heartbeat});
  }
  return workers;
}

bool WorkerRoster::any_trusted() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& entry) { return entry.second.heartbeat.trusted; });
}

std::optional<HeldJob> WorkerRoster::held(const std::string& job) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : workers_) {
    for (const HeldJob& held : entry.heartbeat.held) {
      if (held.job == job) {
        return held;
      }
    }
  }
  return std::nullopt;
}

std::string WorkerRoster::names() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, entry] : workers_) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "no worker" : text;
}

std::string WorkerRoster::faults() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, entry] : workers_) {
    if (!entry.heartbeat.last_fault.empty()) {
      text += (text.empty() ? "" : "; ") + name + ": " + entry.heartbeat.last_fault;
    }
  }
  return text;
}

Quarantine::Quarantine(const std::vector<std::string>& workers)
    : workers_(workers.begin(), workers.end()) {}

bool Quarantine::has(const std::string& worker) const {
  const std::lock_guard lock(mutex_);
  return workers_.contains(worker);
}

std::vector<std::string> Quarantine::workers() const {
  const std::lock_guard lock(mutex_);
  return {workers_.begin(), workers_.end()};
}

bool Quarantine::add(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  return workers_.insert(worker).second;
}

bool Quarantine::refuse(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  return ++marks_[worker] >= kMostMarks && workers_.insert(worker).second;
}

void Quarantine::count(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  int& marks = marks_[worker];
  marks = std::max(0, marks - 1);
}

} // namespace winnow::remote
