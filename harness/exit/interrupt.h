#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace winnow::harness {

/// From now on SIGINT and SIGTERM end the process with one line on stderr and exit code 130, except
/// as long as an Interrupt lives.
void end_on_interrupt();

/// As long as this object lives, a thread of its own handles SIGINT and SIGTERM. The first signal
/// calls the function given to on_first(). The second ends the process at once with exit code 130;
/// the store is never left half-written, and children die with their parent. Create the object
/// before any other thread, so that all threads have the signals blocked.
class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete; // owns the process's signal mask and a thread
  Interrupt& operator=(const Interrupt&) = delete;

  /// `act` runs on the watching thread, or in this call if the signal has come already. With an
  /// empty `act` the call waits until a running one has returned.
  void on_first(std::function<void()> act);
  bool interrupted() const { return interrupted_; }

private:
  void watch();

  sigset_t blocked_{};
  sigset_t before_{};
  std::atomic<bool> ending_{false};
  std::atomic<bool> interrupted_{false};
  std::mutex mutex_; ///< guards act_
  std::function<void()> act_;
  std::thread thread_;
};

/// Sets the function for the first interrupt as long as this object lives.
class OnInterrupt {
public:
  OnInterrupt(Interrupt& interrupt, std::function<void()> act) : interrupt_(interrupt) {
    interrupt_.on_first(std::move(act));
  }
  ~OnInterrupt() { interrupt_.on_first({}); }
  OnInterrupt(const OnInterrupt&) = delete; // the destructor must reset the function exactly once
  OnInterrupt& operator=(const OnInterrupt&) = delete;

private:
  Interrupt& interrupt_;
};

} // namespace winnow::harness
