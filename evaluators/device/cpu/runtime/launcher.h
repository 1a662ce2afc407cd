#pragma once

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/fault_reporter.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/device_fault.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::evaluators::cpu {

/// Distributes the blocks of a launch over OS threads, which live as long as this object. The
/// calling thread is the first of them.
class Launcher {
public:
  explicit Launcher(unsigned workers);
  ~Launcher();
  Launcher(const Launcher&) = delete; // its threads know its address
  Launcher& operator=(const Launcher&) = delete;

  /// Waits for the end of the launch. A fault in any block ends it early.
  std::optional<DeviceFault> run(const Launch& launch);

  /// The current position of every worker, for a time-out. May be called from another thread.
  std::string where() const;

private:
  struct Worker {
    BlockScheduler scheduler;
    std::thread thread; ///< the first worker has none: it uses the caller's thread
  };

  using Work = std::function<void(BlockScheduler& scheduler)>;

  std::optional<DeviceFault> run_cooperative(const Launch& launch);
  void on_all_workers(const Work& work);
  void work(BlockScheduler& scheduler, const Launch& launch);
  void serve(Worker& worker);
  void keep_fault(const std::optional<DeviceFault>& fault);

  SignalStack signal_stack_; ///< for the calling thread
  std::vector<std::unique_ptr<Worker>> workers_;
  mutable std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const Work* work_ = nullptr;
  std::uint64_t generation_ = 0;
  unsigned busy_ = 0;
  bool stop_ = false;
  std::atomic<std::uint64_t> next_block_{0};
  std::atomic<bool> failed_{false};
  std::optional<DeviceFault> fault_;
};

} // namespace winnow::evaluators::cpu
