#include "remote/worker_trust.h"

#include <algorithm>
#include <utility>

namespace winnow::remote {

WorkerTrust::WorkerTrust(const std::vector<std::string>& quarantined) {
  for (const std::string& worker : quarantined) {
    workers_[worker].quarantined = true;
  }
}

bool WorkerTrust::is_quarantined(const std::string& worker) const {
  const std::lock_guard lock(mutex_);
  const auto found = workers_.find(worker);
  return found != workers_.end() && found->second.quarantined;
}

std::vector<std::string> WorkerTrust::quarantined() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, record] : workers_) {
    if (record.quarantined) {
      names.push_back(name);
    }
  }
  return names;
}

bool WorkerTrust::mark(const std::string& worker, int marks) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  record.marks += marks;
  return record.marks >= kMostMarks && !std::exchange(record.quarantined, true);
}

void WorkerTrust::was_right(const std::string& worker, bool was_canary) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  record.marks = std::max(0, record.marks - 1);
  record.until_canary = was_canary ? kCanaryAfter : record.until_canary;
}

void WorkerTrust::count(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  --record.until_canary;
}

bool WorkerTrust::owes_canary() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& entry) {
    const Record& record = entry.second;
    return !record.trusted && !record.quarantined && record.until_canary <= 0;
  });
}

void WorkerTrust::prove_trusted(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  workers_[worker].trusted = true;
}

bool WorkerTrust::is_trusted(const std::string& worker) const {
  const std::lock_guard lock(mutex_);
  const auto found = workers_.find(worker);
  return found != workers_.end() && found->second.trusted;
}

} // namespace winnow::remote
