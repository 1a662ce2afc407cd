#include "evaluators/device/cpu/runtime/grid_barrier.h"

namespace winnow::evaluators::cpu {

void GridBarrier::take_turn(std::unique_lock<std::mutex>& lock) {
  if (serial_) {
    changed_.wait(lock, [this] { return !taken_; });
    taken_ = true;
  }
}

void GridBarrier::begin_block() {
  std::unique_lock lock(mutex_);
  take_turn(lock);
}

void GridBarrier::end_block(bool failed) {
  const std::lock_guard lock(mutex_);
  ++ended_;
  taken_ = false;
  aborted_ = aborted_ || failed || (waiting_ > 0 && waiting_ + ended_ == blocks_);
  changed_.notify_all();
}

bool GridBarrier::arrive_and_wait() {
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

void GridBarrier::yield() {
  if (!serial_) {
    return;
  }
  std::unique_lock lock(mutex_);
  taken_ = false;
  changed_.notify_all();
  take_turn(lock);
}

} // namespace winnow::evaluators::cpu
