#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace winnow::harness {

/// The jobs that wait for a device. The owners take turns, so that one with many jobs does not keep
/// the others waiting. Of one owner's jobs, those with the highest priority go first, in the order
/// in which they came.
class JudgeQueue {
public:
  void push(const std::string& owner, std::string job, int priority = 0);
  std::optional<std::string> pop();
  bool remove(const std::string& job); ///< false: the job does not wait
  /// Gives a job that waits with a lower priority this one. Otherwise does nothing.
  void raise(const std::string& job, int priority);
  std::size_t size() const { return size_; }
  std::size_t size_of(const std::string& owner) const;
  /// By job of this owner: how many jobs go first, if no others come.
  std::map<std::string, std::size_t> positions(const std::string& owner) const;

private:
  /// Of one owner, by priority. No deque is empty.
  using Lanes = std::map<int, std::deque<std::string>, std::greater<>>;
  struct Place {
    std::map<std::string, Lanes>::iterator owner;
    Lanes::iterator lane;
    std::deque<std::string>::iterator job;
  };
  std::optional<Place> find(const std::string& job);
  void erase(const Place& place);

  std::map<std::string, Lanes> waiting_; ///< by owner; none is empty
  std::string last_;                     ///< the owner of the last job
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
