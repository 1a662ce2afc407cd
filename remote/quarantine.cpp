#include "remote/quarantine.h"

#include <algorithm>

namespace winnow::remote {

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
