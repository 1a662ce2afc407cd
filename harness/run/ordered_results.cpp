#include "harness/run/ordered_results.h"

#include <utility>

namespace winnow::harness {

void OrderedResults::put(JudgeResult result) {
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t candidate = result.candidate;
    early_.emplace(candidate, std::move(result));
  }
  changed_.notify_all();
}

void OrderedResults::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

std::optional<JudgeResult> OrderedResults::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return interrupted_ || early_.contains(next_); });
  if (interrupted_) {
    return std::nullopt;
  }
  JudgeResult result = std::move(early_.extract(next_).mapped());
  ++next_;
  return result;
}

} // namespace winnow::harness
