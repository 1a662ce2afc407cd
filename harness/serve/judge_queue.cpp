#include "harness/serve/judge_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace winnow::harness {
namespace {

constexpr std::size_t kRecent = 64;
constexpr int kUnknownWait = 10; // seconds
constexpr double kLongestWait = 600;

} // namespace

void JudgeQueue::push(const std::string& owner, std::string job, int priority) {
  waiting_[owner][priority].push_back(std::move(job));
  ++size_;
}

std::optional<std::string> JudgeQueue::pop() {
  if (waiting_.empty()) {
    return std::nullopt;
  }
  auto next = waiting_.upper_bound(last_);
  next = next == waiting_.end() ? waiting_.begin() : next;
  last_ = next->first;
  const auto lane = next->second.begin();
  std::string job = lane->second.front();
  erase({next, lane, lane->second.begin()});
  return job;
}

std::optional<JudgeQueue::Place> JudgeQueue::find(const std::string& job) {
  for (auto owner = waiting_.begin(); owner != waiting_.end(); ++owner) {
    for (auto lane = owner->second.begin(); lane != owner->second.end(); ++lane) {
      const auto found = std::find(lane->second.begin(), lane->second.end(), job);
      if (found != lane->second.end()) {
        return Place{owner, lane, found};
      }
    }
  }
  return std::nullopt;
}

void JudgeQueue::erase(const Place& place) {
  place.lane->second.erase(place.job);
  --size_;
  if (place.lane->second.empty()) {
    place.owner->second.erase(place.lane);
  }
  if (place.owner->second.empty()) {
    waiting_.erase(place.owner);
  }
}

bool JudgeQueue::remove(const std::string& job) {
  const std::optional<Place> place = find(job);
  if (place) {
    erase(*place);
  }
  return place.has_value();
}

void JudgeQueue::raise(const std::string& job, int priority) {
  const std::optional<Place> place = find(job);
  if (place && place->lane->first < priority) {
    const std::string owner = place->owner->first;
    erase(*place);
    push(owner, job, priority);
  }
}

std::size_t JudgeQueue::size_of(const std::string& owner) const {
  const auto found = waiting_.find(owner);
  std::size_t size = 0;
  if (found != waiting_.end()) {
    for (const auto& [priority, jobs] : found->second) {
      size += jobs.size();
    }
  }
  return size;
}

std::map<std::string, std::size_t> JudgeQueue::positions(const std::string& owner) const {
  std::map<std::string, std::size_t> positions;
  const auto own = waiting_.find(owner);
  if (own == waiting_.end()) {
    return positions;
  }
  // Before the owner's job number n, another owner has n turns, or n + 1 if that owner's turn is
  // sooner in the circle that begins after `last_`.
  const auto is_sooner = [&](const std::string& other) {
    return (other > last_) == (owner > last_) ? other < owner : other > last_;
  };
  std::vector<std::pair<std::size_t, bool>> others;
  for (const auto& [name, lanes] : waiting_) {
    if (name != owner) {
      others.emplace_back(size_of(name), is_sooner(name));
    }
  }
  std::size_t number = 0;
  for (const auto& [priority, jobs] : own->second) {
    for (const std::string& job : jobs) {
      std::size_t before = number;
      for (const auto& [size, sooner] : others) {
        before += std::min(size, number + (sooner ? 1 : 0));
      }
      positions[job] = before;
      ++number;
    }
  }
  return positions;
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
