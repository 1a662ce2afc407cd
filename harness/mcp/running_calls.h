#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

namespace winnow::harness {

/// The calls that run, each on a thread of its own. Use it from one thread.
class RunningCalls {
public:
  explicit RunningCalls(std::size_t most) : most_(most) {}
  ~RunningCalls();                            ///< cancels all calls and waits for them
  RunningCalls(const RunningCalls&) = delete; // the threads refer to it
  RunningCalls& operator=(const RunningCalls&) = delete;

  /// What a call does; `goes_on` is false once it was cancelled.
  using Work = std::function<void(const std::function<bool()>& goes_on)>;

  bool has(const nlohmann::json& id);
  bool is_full();
  void start(const nlohmann::json& id, Work work); ///< throws Error
  void cancel(const nlohmann::json& id); ///< an unknown id is that of a call that has just ended
  void wait();                           ///< until all have ended; for tests

private:
  struct Call {
    nlohmann::json id;
    std::atomic<bool> cancelled{false};
    std::atomic<bool> ended{false};
    std::thread thread;
  };
  void forget_ended();

  std::size_t most_;
  std::list<Call> calls_;
};

} // namespace winnow::harness
