// The part of cooperative groups that fits one grid: grid, block, tiles and coalesced groups. Tiles
// may have up to as many threads as a warp has lanes; coalesced groups are CUDA's, of at most 32
// lanes. `line`: of the candidate's call.
#pragma once
#include "winnow_cpu.h"
#include "winnow_lanes.h"

namespace cooperative_groups {

class thread_block {
public:
  struct arrival_token {};
  static void sync(int line = __builtin_LINE()) { winnow_wait_block(line); }
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
  static void sync(int line = __builtin_LINE()) { winnow_wait_grid(line); }
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

inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(winnow_active_lanes(line));
}

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public winnow_lanes {
public:
  static_assert(Size <= winnow_largest_tile,
                "winnow-unsupported: cooperative groups tile of more threads than a warp has");
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
  void sync(int line = __builtin_LINE()) const {
    if (block_) {
      thread_block::sync(line);
    } else {
      winnow_lanes::sync(line);
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

template <class Group>
inline coalesced_group binary_partition(const Group& group, bool predicate,
                                        int line = __builtin_LINE()) {
  const WinnowLaneMask yes = winnow_lanes_where(group.winnow_mask(), predicate, line);
  return coalesced_group(predicate ? yes : group.winnow_mask() & ~yes);
}
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label,
                                         int line = __builtin_LINE()) {
  return coalesced_group(winnow_lanes_like(group.winnow_mask(), label, line));
}

template <class Group> inline void sync(const Group& group, int line = __builtin_LINE()) {
  group.sync(line);
}
template <class Group> inline auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> inline auto group_size(const Group& group) { return group.size(); }

} // namespace cooperative_groups

#define WINNOW_NO_CLUSTER                                                                          \
  WINNOW_UNSUPPORTED("winnow-unsupported: cooperative groups cluster (thread block clusters)")
#define this_cluster WINNOW_NO_CLUSTER this_cluster
#define cluster_group WINNOW_NO_CLUSTER cluster_group
