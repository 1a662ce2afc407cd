// Prefix sums over a tile or a coalesced group, in rank order.
#pragma once
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
inline T inclusive_scan(const Group& group, T value, Op op, int line = __builtin_LINE()) {
  const unsigned rank = group.winnow_lanes::thread_rank();
  for (unsigned delta = 1; delta < group.winnow_lanes::size(); delta *= 2) {
    const T lower = group.shfl_up(value, delta, line);
    if (rank >= delta) {
      value = op(lower, value);
    }
  }
  return value;
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value, int line = __builtin_LINE()) {
  return inclusive_scan(group, value, plus<T>(), line);
}
// Rank 0 gets T(), as with CUDA's sums.
template <class Group, class T, class Op>
inline T exclusive_scan(const Group& group, T value, Op op, int line = __builtin_LINE()) {
  const T below = group.shfl_up(inclusive_scan(group, value, op, line), 1, line);
  return group.winnow_lanes::thread_rank() == 0 ? T() : below;
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value, int line = __builtin_LINE()) {
  return exclusive_scan(group, value, plus<T>(), line);
}

} // namespace cooperative_groups
