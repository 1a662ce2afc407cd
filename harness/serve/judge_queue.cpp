#include "harness/serve/judge_queue.h"

#include <cmath>
#include <utility>

namespace winnow::harness {
namespace {

constexpr std::size_t kRecent = 64;
constexpr int kUnknownWait = 10; // seconds
constexpr double kLongestWait = 600;

} // namespace

void JudgeQueue::push(const std::string& owner, std::string job) {
  waiting_[owner].push_back(std::move(job));
  ++size_;
}

std::optional<std::string> JudgeQueue::pop() {
  if (waiting_.empty()) {
    return std::nullopt;
  }
  auto next = waiting_.upper_bound(last_);
  next = next == waiting_.end() ? waiting_.begin() : next;
  last_ = next->first;
  std::string job = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) {
    waiting_.erase(next);
  }
  --size_;
  return job;
}

bool JudgeQueue::remove(const std::string& job) {
  for (auto owner = waiting_.begin(); owner != waiting_.end(); ++owner) {
    std::deque<std::string>& jobs = owner->second;
    if (const auto found = std::find(jobs.begin(), jobs.end(), job); found != jobs.end()) {
      jobs.erase(found);
      --size_;
      if (jobs.empty()) {
        waiting_.erase(owner);
      }
      return true;
    }
  }
  return false;
}

std::size_t JudgeQueue::size_of(const std::string& owner) const {
  const auto found = waiting_.find(owner);
  return found == waiting_.end() ? 0 : found->second.size();
}

void MeasuredRate::count(Time now) {
  answered_.push_back(now);
  if (answered_.size() > kRecent) {
    answered_.pop_front();
  }
}

double MeasuredRate::per_second() const {
  if (answered_.size() < 2) {
    return 0;
  }
  const std::chrono::duration<double> time = answered_.back() - answered_.front();
  return static_cast<double>(answered_.size() - 1) / std::max(time.count(), 1e-3);
}

int MeasuredRate::seconds_for(std::size_t jobs) const {
  const double rate = per_second();
  if (!(rate > 0)) {
    return kUnknownWait;
  }
  return static_cast<int>(
      std::ceil(std::clamp(static_cast<double>(jobs) / rate, 1.0, kLongestWait)));
}

} // namespace winnow::harness
