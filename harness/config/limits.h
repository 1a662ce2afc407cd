#pragma once

#include <chrono>
#include <cstdint>

namespace winnow::harness {

/// The limits of a run, over all its sessions. 0: no limit of that kind.
struct Limits {
  std::int64_t calls = 0;
  std::int64_t tokens = 0; ///< prompt and completion tokens together
  double dollars = 0;
  std::chrono::milliseconds wall_time{0};
};

} // namespace winnow::harness
