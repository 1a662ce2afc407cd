#pragma once

#include "remote/job_transport.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace winnow::remote {

/// Checks several results at the same time. Those of one job are checked one after the other, in
/// the order in which they are posted, so that a job's result does not meet itself if it comes
/// twice. Any thread may post.
class CheckingThreads {
public:
  using Check = std::function<void(const ArrivedResult&)>; ///< runs on threads of this object

  explicit CheckingThreads(Check check);
  ~CheckingThreads();
  CheckingThreads(const CheckingThreads&) = delete; // owns threads
  CheckingThreads& operator=(const CheckingThreads&) = delete;

  /// Waits as long as too many results are posted and not checked. Does nothing after stop().
  void post(ArrivedResult result);
  /// Waits for the checks that have begun, and drops the other results.
  void stop();

private:
  static constexpr int kThreads = 4;
  static constexpr std::size_t kMostWaiting = 16; ///< for each thread

  struct Checker {
    std::deque<ArrivedResult> waiting; ///< guarded by mutex_
    std::condition_variable changed;
    std::thread thread;
  };
  void work(Checker& checker);

  const Check check_;
  std::mutex mutex_; ///< guards the members below, except the threads
  bool stopping_ = false;
  std::list<Checker> checkers_;
};

} // namespace winnow::remote
