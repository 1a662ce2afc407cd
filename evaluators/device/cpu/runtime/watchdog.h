#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace winnow::evaluators::cpu {

/// Calls `expired` on a thread of its own when an armed deadline passes.
class Watchdog {
public:
  explicit Watchdog(std::function<void()> expired)
      : expired_(std::move(expired)), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete; // its thread knows its address
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(std::chrono::milliseconds after) {
    {
      const std::lock_guard lock(mutex_);
      deadline_ = std::chrono::steady_clock::now() + after;
      armed_ = true;
    }
    changed_.notify_all();
  }
  void disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
  }

private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (!armed_) {
        changed_.wait(lock);
      } else if (std::chrono::steady_clock::now() < deadline_) {
        changed_.wait_until(lock, deadline_);
      } else {
        armed_ = false;
        expired_(); // keeps the lock, so that disarm() waits for the end of the call
      }
    }
  }

  std::function<void()> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point deadline_;
  bool armed_ = false;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace winnow::evaluators::cpu
