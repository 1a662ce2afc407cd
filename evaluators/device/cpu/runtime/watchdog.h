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
  explicit Watchdog(std::function<void()> expired);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete; // its thread knows its address
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(std::chrono::milliseconds after);
  void disarm();

private:
  void watch();

  std::function<void()> expired_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point deadline_;
  bool armed_ = false;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace winnow::evaluators::cpu
