#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace winnow::evaluators::cpu {

/// Where the blocks of a cooperative launch, one OS thread each, wait for each other. With `serial`
/// only one of them runs at a time, as watched launches want.
class GridBarrier {
public:
  GridBarrier(std::uint64_t blocks, bool serial) : blocks_(blocks), serial_(serial) {}

  void begin_block();
  /// A block has ended, or failed when `failed`: nobody waits for it any more.
  void end_block(bool failed);
  /// False when some block will never come.
  bool arrive_and_wait();
  /// Lets another block run when they run one at a time.
  void yield();

private:
  void take_turn(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_;
  std::uint64_t waiting_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t generation_ = 0;
  bool serial_;
  bool taken_ = false; ///< with `serial_`: some block runs
  bool aborted_ = false;
};

} // namespace winnow::evaluators::cpu
