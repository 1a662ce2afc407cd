#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace winnow::harness {

/// A queue that any thread may fill and one thread reads.
template <typename T> class EventQueue {
public:
  void push(T event) {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    }
    arrived_.notify_one();
  }

  /// The oldest event; nullopt if none arrives within the timeout.
  std::optional<T> pop(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    if (events_.empty() && timeout.count() > 0) { // a wait of no time costs a system call
      arrived_.wait_for(lock, timeout, [this] { return !events_.empty(); });
    }
    if (events_.empty()) {
      return std::nullopt;
    }
    T event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<T> events_;
};

} // namespace winnow::harness
