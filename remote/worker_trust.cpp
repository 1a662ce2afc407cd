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

void WorkerTrust::was_right(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  record.marks = std::max(0, record.marks - 1);
}

void WorkerTrust::passed_canary(const std::string& worker, CanaryKind kind) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  record.marks = std::max(0, record.marks - 1);
  if (record.is_timing_doubtful && kind != CanaryKind::Timing) {
    return;
  }
  record.is_timing_doubtful = false;
  record.until_canary =
      std::exchange(record.has_passed_canary, true) ? kCanaryAfter : kFirstCanaryAfter;
  record.next_canary = kind == CanaryKind::Timing ? CanaryKind::Wrong : CanaryKind::Timing;
}

void WorkerTrust::count(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  Record& record = workers_[worker];
  --record.until_canary;
}

void WorkerTrust::doubt_timing(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  workers_[worker].is_timing_doubtful = true;
}

std::optional<CanaryKind> WorkerTrust::owed_canary() const {
  const std::lock_guard lock(mutex_);
  std::optional<CanaryKind> owed;
  for (const auto& [name, record] : workers_) {
    if (record.trusted || record.quarantined) {
      continue;
    }
    if (record.is_timing_doubtful) {
      return CanaryKind::Timing;
    }
    owed = record.until_canary <= 0 ? record.next_canary : owed;
  }
  return owed;
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
