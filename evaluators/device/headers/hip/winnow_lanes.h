// The parts of cooperative_groups.h that differ between the CPU device and AMD GPUs. (The HIP header
// of ROCm 5.2 needs host headers that are not there; later hiprtcs have less than this built in, so
// ours has a name of its own.)
#pragma once
#include "winnow_hip.h"
#define cooperative_groups winnow_cooperative_groups

#pragma clang force_cuda_host_device begin

constexpr unsigned winnow_largest_tile = warpSize;
inline void winnow_wait_block(int) { __syncthreads(); }
inline void winnow_wait_grid(int) { __ockl_grid_sync(); }

namespace cooperative_groups {

inline unsigned winnow_thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline WinnowLaneMask winnow_lanes_below(unsigned lane) { return (1ull << lane) - 1ull; }

// The lanes of the tile of `size` threads (a power of two) that this thread belongs to.
inline WinnowLaneMask winnow_tile_mask(unsigned size) {
  const WinnowLaneMask tile = size >= 64 ? ~0ull : winnow_lanes_below(size);
  return tile << (winnow_lane() & ~(size - 1u));
}
inline WinnowLaneMask winnow_active_lanes(int) { return __ballot(1) & winnow_tile_mask(32); }
inline WinnowLaneMask winnow_lanes_where(WinnowLaneMask mask, bool predicate, int) {
  return __ballot(predicate) & mask;
}
template <class Label>
inline WinnowLaneMask winnow_lanes_like(WinnowLaneMask mask, Label label, int) {
  return __match_any_sync(mask, label);
}

// Threads of one wave, given by their lanes; rank = how many members have a lower lane.
class winnow_lanes {
public:
  explicit winnow_lanes(WinnowLaneMask mask) : mask_(mask) {}
  WinnowLaneMask winnow_mask() const { return mask_; }
  unsigned thread_rank() const {
    return unsigned(__popcll(mask_ & winnow_lanes_below(winnow_lane())));
  }
  unsigned size() const { return unsigned(__popcll(mask_)); }
  unsigned num_threads() const { return size(); }
  void sync(int = 0) const { __syncwarp(mask_); }

  template <class T> T shfl(T value, int rank, int = 0) const {
    return winnow_from_lane(value, lane_of(unsigned(rank) % size()));
  }
  template <class T> T shfl_up(T value, unsigned delta, int = 0) const {
    const unsigned rank = thread_rank();
    return winnow_from_lane(value, rank >= delta ? lane_of(rank - delta) : winnow_lane());
  }
  template <class T> T shfl_down(T value, unsigned delta, int = 0) const {
    const unsigned rank = thread_rank();
    return winnow_from_lane(value, delta < size() - rank ? lane_of(rank + delta) : winnow_lane());
  }
  template <class T> T shfl_xor(T value, unsigned bits, int = 0) const {
    const unsigned rank = thread_rank() ^ bits;
    return winnow_from_lane(value, rank < size() ? lane_of(rank) : winnow_lane());
  }
  int any(int predicate) const { return (__ballot(predicate) & mask_) != 0; }
  int all(int predicate) const { return (__ballot(!predicate) & mask_) == 0; }
  WinnowLaneMask ballot(int predicate) const { return by_rank(__ballot(predicate) & mask_); }
  template <class T> WinnowLaneMask match_any(T value) const {
    return by_rank(__match_any_sync(mask_, value));
  }
  template <class T> WinnowLaneMask match_all(T value, int& same) const {
    return by_rank(__match_all_sync(mask_, value, &same));
  }

private:
  // Members with consecutive lanes, the usual case, need no search.
  unsigned lane_of(unsigned rank) const {
    const unsigned first = unsigned(__ffsll(mask_) - 1);
    const bool consecutive = (mask_ >> first & (mask_ >> first) + 1ull) == 0;
    return consecutive ? first + rank : __fns(mask_, 0, int(rank) + 1);
  }
  // Moves bit `lane` to bit `rank of that lane`.
  WinnowLaneMask by_rank(WinnowLaneMask lanes) const {
    WinnowLaneMask ranks = 0;
    for (unsigned rank = 0; rank < size(); ++rank) {
      ranks |= (lanes >> lane_of(rank) & 1u) << rank;
    }
    return ranks;
  }
  WinnowLaneMask mask_;
};

} // namespace cooperative_groups

#pragma clang force_cuda_host_device end
