#pragma once

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/fault_reporter.h"
#include "evaluators/device/cpu/runtime/grid_barrier.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/device_fault.h"

#include <algorithm>
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
  explicit Launcher(unsigned workers) {
    for (unsigned i = 0; i < std::max(workers, 1u); ++i) {
      workers_.push_back(std::make_unique<Worker>());
    }
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      Worker& worker = *workers_[i];
      worker.thread = std::thread([this, &worker] { serve(worker); });
    }
  }
  ~Launcher() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    start_.notify_all();
    for (const auto& worker : workers_) {
      if (worker->thread.joinable()) {
        worker->thread.join();
      }
    }
  }
  Launcher(const Launcher&) = delete; // its threads know its address
  Launcher& operator=(const Launcher&) = delete;

  /// Waits for the end of the launch. A fault in any block ends it early.
  std::optional<DeviceFault> run(const Launch& launch) {
    fault_.reset();
    failed_ = false;
    next_block_ = 0;
    if (launch.cooperative) {
      return run_cooperative(launch);
    }
    if (launch.watched() || launch.blocks() == 1) {
      work(workers_.front()->scheduler, launch);
    } else {
      on_all_workers([&](BlockScheduler& scheduler) { work(scheduler, launch); });
    }
    return fault_;
  }

  /// The current position of every worker, for a time-out. May be called from another thread.
  std::string where() const {
    std::string text;
    for (const auto& worker : workers_) {
      if (worker->scheduler.launch() != nullptr) {
        text += (text.empty() ? "" : "; ") + worker->scheduler.where();
      }
    }
    return text.empty() ? "between launches" : text;
  }

private:
  // A worker takes a chunk of blocks at a time. Chunks are small enough that all workers end
  // together. They are taken in ascending order, because some kernels wait for earlier blocks.
  static constexpr std::uint64_t kChunksPerWorker = 8;
  static constexpr std::uint64_t kMaxChunkBlocks = 64;

  struct Worker {
    BlockScheduler scheduler;
    std::thread thread; ///< the first worker has none: it uses the caller's thread
  };

  using Work = std::function<void(BlockScheduler& scheduler)>;

  /// All blocks must run at once, so each gets an OS thread of its own.
  std::optional<DeviceFault> run_cooperative(const Launch& launch) {
    GridBarrier barrier(launch.blocks(), launch.watched());
    Launch with_barrier = launch;
    with_barrier.grid_barrier = &barrier;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < launch.blocks(); ++i) {
      threads.emplace_back([this, &barrier, &with_barrier, i] {
        const SignalStack signal_stack;
        BlockScheduler scheduler;
        barrier.begin_block();
        const std::optional<DeviceFault> fault = scheduler.run(with_barrier, i, 1);
        keep_fault(fault);
        barrier.end_block(fault.has_value());
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return fault_;
  }
  void on_all_workers(const Work& work) {
    const bool alone = workers_.size() == 1;
    if (!alone) {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      ++generation_;
      busy_ = static_cast<unsigned>(workers_.size()) - 1;
      start_.notify_all();
    }
    work(workers_.front()->scheduler);
    if (!alone) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return busy_ == 0; });
      work_ = nullptr;
    }
  }
  void work(BlockScheduler& scheduler, const Launch& launch) {
    const std::uint64_t blocks = launch.blocks();
    const std::uint64_t chunk = std::clamp<std::uint64_t>(
        blocks / (workers_.size() * kChunksPerWorker), 1, kMaxChunkBlocks);
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::uint64_t first = next_block_.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= blocks) {
        return;
      }
      keep_fault(scheduler.run(launch, first, std::min(chunk, blocks - first)));
    }
  }
  void serve(Worker& worker) {
    const SignalStack signal_stack;
    std::uint64_t served = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      start_.wait(lock, [&] { return stop_ || generation_ != served; });
      if (stop_) {
        return;
      }
      served = generation_;
      const Work& work = *work_;
      lock.unlock();
      work(worker.scheduler);
      lock.lock();
      if (--busy_ == 0) {
        done_.notify_one();
      }
    }
  }
  void keep_fault(const std::optional<DeviceFault>& fault) {
    if (fault) {
      const std::lock_guard lock(mutex_);
      if (!failed_.exchange(true)) {
        fault_ = fault;
      }
    }
  }

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
