#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace winnow::harness {

/// The jobs that wait for a device. The owners take turns, so that one with many jobs does not keep
/// the others waiting.
class JudgeQueue {
public:
  void push(const std::string& owner, std::string job);
  std::optional<std::string> pop();
  bool remove(const std::string& job); ///< false: the job does not wait
  std::size_t size() const { return size_; }
  std::size_t size_of(const std::string& owner) const;

private:
  std::map<std::string, std::deque<std::string>> waiting_; ///< by owner; no deque is empty
  std::string last_;                                       ///< the owner of the last job
  std::size_t size_ = 0;
};

/// How many jobs a second are answered, by the last ones.
class MeasuredRate {
public:
  using Time = std::chrono::steady_clock::time_point;
  void count(Time now);
  double per_second() const; ///< 0: not known yet
  /// Seconds until this many jobs are answered, 1 to 600; 10 if the rate is not known.
  int seconds_for(std::size_t jobs) const;

private:
  std::deque<Time> answered_;
};

} // namespace winnow::harness
