#pragma once

#include "harness/judging/judge_pool.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace winnow::harness {

/// Returns the results of candidates 0, 1, 2, ... in this order, whatever the order of their
/// arrival. Any thread may use it.
class OrderedResults {
public:
  void put(JudgeResult result);
  /// Ends all present and later waits.
  void interrupt();
  /// Waits for the next result; nullopt: interrupted.
  std::optional<JudgeResult> next();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, JudgeResult> early_; ///< by candidate
  std::int64_t next_ = 0;
  bool interrupted_ = false;
};

} // namespace winnow::harness
