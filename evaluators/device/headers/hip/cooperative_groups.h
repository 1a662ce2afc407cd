// The part of cooperative groups that fits one grid: grid, block, tiles and coalesced groups. Tiles
// may have up to as many threads as a wave has lanes; coalesced groups are CUDA's, of at most 32
// lanes. (The HIP header of ROCm 5.2 needs host headers that are not there; later hiprtcs have less
// than this built in, so ours has a name of its own.)
#pragma once
#include "winnow_hip.h"
#define cooperative_groups winnow_cooperative_groups

#pragma clang force_cuda_host_device begin

namespace cooperative_groups {

inline unsigned winnow_thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
inline WinnowLaneMask winnow_lanes_below(unsigned lane) { return (1ull << lane) - 1ull; }

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

class thread_block {
public:
  static void sync(int = 0) { __syncthreads(); }
  static unsigned thread_rank() { return winnow_thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static dim3 dim_threads() { return group_dim(); }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
public:
  static bool is_valid() { return true; }
  static void sync(int = 0) { __ockl_grid_sync(); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + winnow_thread_rank();
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 block_index() { return thread_block::group_index(); }
  static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static dim3 dim_blocks() { return group_dim(); }
};
inline grid_group this_grid() { return {}; }

class coalesced_group : public winnow_lanes {
public:
  using winnow_lanes::winnow_lanes;
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};

// The lanes of the tile of `size` threads (a power of two) that this thread belongs to.
inline WinnowLaneMask winnow_tile_mask(unsigned size) {
  const WinnowLaneMask tile = size >= 64 ? ~0ull : winnow_lanes_below(size);
  return tile << (winnow_lane() & ~(size - 1u));
}
inline coalesced_group coalesced_threads() {
  return coalesced_group(__ballot(1) & winnow_tile_mask(32));
}

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public winnow_lanes {
public:
  static_assert(Size <= warpSize, "winnow-unsupported: cooperative groups tile larger than a wave");
  static_assert((Size & (Size - 1)) == 0 && Size > 0, "a tile's size is a power of two");
  thread_block_tile() : winnow_lanes(winnow_tile_mask(Size)) {}
  static unsigned thread_rank() { return winnow_lane() & (Size - 1); }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned meta_group_rank() { return rank_in(static_cast<const Parent*>(nullptr)); }
  static unsigned meta_group_size() { return count_in(static_cast<const Parent*>(nullptr)); }

private:
  static unsigned rank_in(const thread_block*) { return winnow_thread_rank() / Size; }
  static unsigned count_in(const thread_block*) { return (thread_block::size() + Size - 1) / Size; }
  template <unsigned Outer, class P> static unsigned rank_in(const thread_block_tile<Outer, P>*) {
    return (winnow_lane() & (Outer - 1)) / Size;
  }
  template <unsigned Outer, class P> static unsigned count_in(const thread_block_tile<Outer, P>*) {
    return Outer / Size;
  }
};

// A group whose kind is known at run time only.
class thread_group : public winnow_lanes {
public:
  thread_group(thread_block) : winnow_lanes(winnow_tile_mask(32)), block_(true) {}
  thread_group(winnow_lanes lanes) : winnow_lanes(lanes) {}
  void sync(int = 0) const {
    if (block_) {
      thread_block::sync();
    } else {
      winnow_lanes::sync();
    }
  }
  unsigned size() const { return block_ ? thread_block::size() : winnow_lanes::size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return block_ ? winnow_thread_rank() : winnow_lanes::thread_rank();
  }

private:
  bool block_ = false;
};

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Parent> inline thread_group tiled_partition(const Parent&, unsigned size) {
  return thread_group(winnow_lanes(winnow_tile_mask(size)));
}
template <class Group> inline coalesced_group binary_partition(const Group& group, bool predicate) {
  const WinnowLaneMask yes = __ballot(predicate) & group.winnow_mask();
  return coalesced_group(predicate ? yes : group.winnow_mask() & ~yes);
}
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.winnow_mask(), label));
}

template <class Group> inline void sync(const Group& group) { group.sync(); }
template <class Group> inline auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> inline auto group_size(const Group& group) { return group.size(); }

} // namespace cooperative_groups

#pragma clang force_cuda_host_device end

#define WINNOW_NO_CLUSTER                                                                          \
  WINNOW_UNSUPPORTED("winnow-unsupported: cooperative groups cluster (thread block clusters)")
#define this_cluster WINNOW_NO_CLUSTER this_cluster
#define cluster_group WINNOW_NO_CLUSTER cluster_group
