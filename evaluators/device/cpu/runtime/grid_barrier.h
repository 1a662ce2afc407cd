#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace winnow::evaluators::cpu {

/// A barrier for the blocks of a cooperative launch, which run on one OS thread each. With
/// `serial`, which watched launches need, only one block runs at a time.
class GridBarrier {
public:
  GridBarrier(std::uint64_t blocks, bool serial) : blocks_(blocks), serial_(serial) {}

  void begin_block() {
    std::unique_lock lock(mutex_);
    take_turn(lock);
  }
  /// A block has ended, or has failed with `failed`. Other blocks no longer wait for it.
  void end_block(bool failed) {
    const std::lock_guard lock(mutex_);
    ++ended_;
    taken_ = false;
    aborted_ = aborted_ || failed || (waiting_ > 0 && waiting_ + ended_ == blocks_);
    changed_.notify_all();
  }
  /// False when some block will never arrive.
  bool arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t generation = generation_;
    ++waiting_;
    if (waiting_ == blocks_) {
      waiting_ = 0;
      ++generation_;
      changed_.notify_all();
      return true;
    }
    aborted_ = aborted_ || waiting_ + ended_ == blocks_;
    taken_ = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return aborted_ || generation_ != generation; });
    if (generation_ == generation) {
      return false;
    }
    take_turn(lock);
    return true;
  }
  /// With `serial`, lets another block run.
  void yield() {
    if (!serial_) {
      return;
    }
    std::unique_lock lock(mutex_);
    taken_ = false;
    changed_.notify_all();
    take_turn(lock);
  }

private:
  void take_turn(std::unique_lock<std::mutex>& lock) {
    if (serial_) {
      changed_.wait(lock, [this] { return !taken_; });
      taken_ = true;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_;
  std::uint64_t waiting_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t generation_ = 0;
  bool serial_;
  bool taken_ = false; ///< with `serial_`: a block is running
  bool aborted_ = false;
};

} // namespace winnow::evaluators::cpu
