#pragma once

#include "harness/judging/judge_pool.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace winnow::harness {

/// Hands on results of candidates 0, 1, 2, ... in this order, however they come in. Any thread.
class OrderedResults {
public:
  void put(JudgeResult result);
  /// From now on nobody waits.
  void interrupt();
  /// Waits for the next one; nullopt: interrupted.
  std::optional<JudgeResult> next();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, JudgeResult> early_; ///< by candidate
  std::int64_t next_ = 0;
  bool interrupted_ = false;
};

} // namespace winnow::harness
