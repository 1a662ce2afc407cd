// Reductions over a tile or a coalesced group; every member gets the same result.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

#define WINNOW_GROUP_OPERATOR(name, expression)                                                    \
  template <class T = void> struct name {                                                          \
    T operator()(const T& a, const T& b) const { return expression; }                              \
  };                                                                                               \
  template <> struct name<void> {                                                                  \
    template <class T> T operator()(const T& a, const T& b) const { return expression; }           \
  };
WINNOW_GROUP_OPERATOR(plus, a + b)
WINNOW_GROUP_OPERATOR(less, b < a ? b : a)
WINNOW_GROUP_OPERATOR(greater, a < b ? b : a)
WINNOW_GROUP_OPERATOR(bit_and, a& b)
WINNOW_GROUP_OPERATOR(bit_or, a | b)
WINNOW_GROUP_OPERATOR(bit_xor, a ^ b)
#undef WINNOW_GROUP_OPERATOR

// The values meet in a butterfly over ranks when the group is full, in rank order otherwise.
template <class Group, class T, class Op>
inline T reduce(const Group& group, T value, Op op, int line = __builtin_LINE()) {
  const unsigned count = group.winnow_lanes::size();
  if ((count & (count - 1)) == 0) {
    for (unsigned bits = count / 2; bits > 0; bits /= 2) {
      value = op(value, group.shfl_xor(value, bits, line));
    }
    return value;
  }
  T total = group.shfl(value, 0, line);
  for (unsigned rank = 1; rank < count; ++rank) {
    total = op(total, group.shfl(value, int(rank), line));
  }
  return total;
}

} // namespace cooperative_groups
