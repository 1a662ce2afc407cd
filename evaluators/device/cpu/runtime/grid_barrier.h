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

  void begin_block();
  /// A block has ended, or has failed with `failed`. Other blocks no longer wait for it.
  void end_block(bool failed);
  /// False when some block will never arrive.
  bool arrive_and_wait();
  /// With `serial`, lets another block run.
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
  bool taken_ = false; ///< with `serial_`: a block is running
  bool aborted_ = false;
};

} // namespace winnow::evaluators::cpu
