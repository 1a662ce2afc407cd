#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace winnow::harness {

/// The time of a run over all its sessions, and its limit.
class RunClock {
public:
  static constexpr int kReservePercent = 15; ///< of the limit
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// `before`: the duration of earlier sessions. `limit`: 0 is no limit.
  RunClock(Now now, std::chrono::milliseconds before, std::chrono::milliseconds limit)
      : now_(std::move(now)), started_(now_()), before_(before), limit_(limit) {}

  std::chrono::milliseconds elapsed() const {
    return before_ + std::chrono::duration_cast<std::chrono::milliseconds>(now_() - started_);
  }
  bool is_spent() const { return limit_.count() > 0 && elapsed() >= limit_; }
  /// The rest of the limit is kept for judging and the final: no call begins any more.
  bool is_in_reserve() const {
    return limit_.count() > 0 && elapsed() >= limit_ - limit_ * kReservePercent / 100;
  }
  /// The time until the limit, at most `most`, at least 1 ms.
  std::chrono::milliseconds next_wait(std::chrono::milliseconds most) const {
    return limit_.count() == 0 ? most
                               : std::clamp(limit_ - elapsed(), std::chrono::milliseconds{1}, most);
  }

private:
  Now now_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::milliseconds before_;
  std::chrono::milliseconds limit_;
};

} // namespace winnow::harness
