// CUDA's warp functions on waves of 32 or 64 lanes. The mask's type says which warp is meant: 32
// bits are CUDA's warp of 32 lanes, of which a wave of 64 holds two; 64 bits are the whole wave.
// Shuffles up, down and xor without a width go by the wave in both cases: within 32 lanes they give
// what CUDA gives wherever a kernel may use the result, and kernels that count by `warpSize` work.
#pragma once
#include "winnow_hip.h"

using WinnowLaneMask = unsigned long long; // of a wave

template <int Bytes> struct WinnowMask {
  using Type = unsigned;
  static constexpr int lanes = 32;
};
template <> struct WinnowMask<8> {
  using Type = unsigned long long;
  static constexpr int lanes = warpSize;
};
#define WINNOW_MASK WinnowMask<int(sizeof(Mask))>

inline unsigned winnow_lane() { return __lane_id(); }
template <class Mask> inline unsigned winnow_first_lane() {
  return winnow_lane() & ~unsigned(WINNOW_MASK::lanes - 1);
}

// `value` of another lane of the wave. Any type: 32 bits at a time.
template <class T> inline T winnow_from_lane(T value, unsigned lane) {
  constexpr int words = int((sizeof(T) + 3) / 4);
  int bits[words] = {};
  __builtin_memcpy(bits, &value, sizeof(T));
  for (int i = 0; i < words; ++i) {
    bits[i] = __builtin_amdgcn_ds_bpermute(int(lane << 2), bits[i]);
  }
  __builtin_memcpy(&value, bits, sizeof(T));
  return value;
}

template <class Mask, class T>
inline T winnow_shfl_sync(Mask, T value, int source, int width = WINNOW_MASK::lanes) {
  const unsigned first = winnow_lane() & ~unsigned(width - 1);
  return winnow_from_lane(value, first + (unsigned(source) & unsigned(width - 1)));
}
template <class Mask, class T>
inline T winnow_shfl_up_sync(Mask, T value, unsigned delta, int width = warpSize) {
  const unsigned rank = winnow_lane() & unsigned(width - 1);
  return winnow_from_lane(value, winnow_lane() - (rank >= delta ? delta : 0));
}
template <class Mask, class T>
inline T winnow_shfl_down_sync(Mask, T value, unsigned delta, int width = warpSize) {
  const unsigned rank = winnow_lane() & unsigned(width - 1);
  return winnow_from_lane(value, winnow_lane() + (delta < unsigned(width) - rank ? delta : 0));
}
template <class Mask, class T>
inline T winnow_shfl_xor_sync(Mask, T value, int lanes, int width = warpSize) {
  const unsigned other = winnow_lane() ^ unsigned(lanes);
  const unsigned end = (winnow_lane() & ~unsigned(width - 1)) + unsigned(width);
  return winnow_from_lane(value, other < end ? other : winnow_lane());
}
#define __shfl_sync winnow_shfl_sync
#define __shfl_up_sync winnow_shfl_up_sync
#define __shfl_down_sync winnow_shfl_down_sync
#define __shfl_xor_sync winnow_shfl_xor_sync

template <class Mask> inline auto winnow_ballot_sync(Mask mask, int predicate) {
  using Lanes = typename WINNOW_MASK::Type;
  return Lanes(__ballot(predicate) >> winnow_first_lane<Mask>()) & Lanes(mask);
}
template <class Mask> inline int winnow_any_sync(Mask mask, int predicate) {
  return winnow_ballot_sync(mask, predicate) != 0;
}
template <class Mask> inline int winnow_all_sync(Mask mask, int predicate) {
  return winnow_ballot_sync(mask, !predicate) == 0;
}
inline unsigned winnow_activemask() { return winnow_ballot_sync(0xffffffffu, 1); }
template <class Mask = unsigned> inline void winnow_syncwarp(Mask = Mask(-1)) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define __ballot_sync winnow_ballot_sync
#define __any_sync winnow_any_sync
#define __all_sync winnow_all_sync
#define __activemask winnow_activemask
#define __syncwarp winnow_syncwarp

template <class Mask, class T> inline auto winnow_match_any_sync(Mask mask, T value) {
  using Lanes = typename WINNOW_MASK::Type;
  Lanes same = 0;
  for (int rank = 0; rank < WINNOW_MASK::lanes; ++rank) {
    const T other = winnow_from_lane(value, winnow_first_lane<Mask>() + unsigned(rank));
    same |= Lanes(other == value ? 1 : 0) << rank;
  }
  return same & Lanes(mask);
}
template <class Mask, class T> inline auto winnow_match_all_sync(Mask mask, T value, int* same) {
  using Lanes = typename WINNOW_MASK::Type;
  *same = winnow_match_any_sync(mask, value) == Lanes(mask) ? 1 : 0;
  return *same != 0 ? Lanes(mask) : Lanes(0);
}
#define __match_any_sync winnow_match_any_sync
#define __match_all_sync winnow_match_all_sync

// Lanes outside of the mask count for nothing.
template <class Mask, class T, class Op> inline T winnow_reduce_sync(Mask mask, T value, Op op) {
  using Lanes = typename WINNOW_MASK::Type;
  T total = value;
  for (int rank = 0; rank < WINNOW_MASK::lanes; ++rank) {
    const unsigned lane = winnow_first_lane<Mask>() + unsigned(rank);
    const T other = winnow_from_lane(value, lane);
    if ((Lanes(mask) >> rank & 1u) != 0 && lane != winnow_lane()) {
      total = op(total, other);
    }
  }
  return total;
}
#define WINNOW_REDUCE(name, expression)                                                            \
  template <class Mask, class T> inline T winnow_reduce_##name##_sync(Mask mask, T value) {        \
    return winnow_reduce_sync(mask, value, [](T a, T b) { return T(expression); });                \
  }
WINNOW_REDUCE(add, a + b)
WINNOW_REDUCE(min, b < a ? b : a)
WINNOW_REDUCE(max, a < b ? b : a)
WINNOW_REDUCE(and, a& b)
WINNOW_REDUCE(or, a | b)
WINNOW_REDUCE(xor, a ^ b)
#undef WINNOW_REDUCE
#define __reduce_add_sync winnow_reduce_add_sync
#define __reduce_min_sync winnow_reduce_min_sync
#define __reduce_max_sync winnow_reduce_max_sync
#define __reduce_and_sync winnow_reduce_and_sync
#define __reduce_or_sync winnow_reduce_or_sync
#define __reduce_xor_sync winnow_reduce_xor_sync
#undef WINNOW_MASK
