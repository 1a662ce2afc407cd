// The part of cooperative groups that fits one grid: grid, block, tiles and coalesced groups.
#pragma once
#include "winnow_cpu.h"

namespace cooperative_groups {

// Threads of one warp, given by their mask; rank = how many members have a lower lane.
class winnow_lanes {
public:
  explicit winnow_lanes(unsigned mask) : mask_(mask) {}
  unsigned winnow_mask() const { return mask_; }
  unsigned thread_rank() const {
    return unsigned(__builtin_popcount(mask_ & ((1u << winnow_lane()) - 1u)));
  }
  unsigned size() const { return unsigned(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  void sync(int line = __builtin_LINE()) const { __syncwarp(mask_, line); }

  template <class T> T shfl(T value, int rank, int line = __builtin_LINE()) const {
    return winnow_shuffle(mask_, value, lane_of(unsigned(rank) % size()), WinnowOpShuffle,
                          "group.shfl", line);
  }
  template <class T> T shfl_up(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return winnow_shuffle(mask_, value, rank >= delta ? lane_of(rank - delta) : winnow_lane(),
                          WinnowOpShuffleUp, "group.shfl_up", line);
  }
  template <class T> T shfl_down(T value, unsigned delta, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank();
    return winnow_shuffle(mask_, value,
                          delta < size() - rank ? lane_of(rank + delta) : winnow_lane(),
                          WinnowOpShuffleDown, "group.shfl_down", line);
  }
  template <class T> T shfl_xor(T value, unsigned bits, int line = __builtin_LINE()) const {
    const unsigned rank = thread_rank() ^ bits;
    return winnow_shuffle(mask_, value, rank < size() ? lane_of(rank) : winnow_lane(),
                          WinnowOpShuffleXor, "group.shfl_xor", line);
  }
  int any(int predicate, int line = __builtin_LINE()) const {
    return __any_sync(mask_, predicate, line);
  }
  int all(int predicate, int line = __builtin_LINE()) const {
    return __all_sync(mask_, predicate, line);
  }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    return by_rank(__ballot_sync(mask_, predicate, line));
  }
  template <class T> unsigned match_any(T value, int line = __builtin_LINE()) const {
    return by_rank(__match_any_sync(mask_, value, line));
  }
  template <class T> unsigned match_all(T value, int& same, int line = __builtin_LINE()) const {
    return by_rank(__match_all_sync(mask_, value, &same, line));
  }

protected:
  unsigned lane_of(unsigned rank) const { return __fns(mask_, 0, int(rank) + 1); }

private:
  // Moves bit `lane` to bit `rank of that lane`.
  unsigned by_rank(unsigned lanes) const {
    unsigned ranks = 0;
    unsigned rank = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask_ >> lane & 1u) != 0) {
        ranks |= (lanes >> lane & 1u) << rank;
        ++rank;
      }
    }
    return ranks;
  }
  unsigned mask_;
};

class thread_block {
public:
  static void sync(int line = __builtin_LINE()) {
    winnow_block_sync(WinnowBarrierPlain, 0, "block.sync", line);
  }
  struct arrival_token {};
  static unsigned thread_rank() { return winnow_thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
public:
  static bool is_valid() { return true; }
  static void sync(int line = __builtin_LINE()) { winnow_grid_sync(line); }
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
  static dim3 block_index() { return dim3(blockIdx); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

class coalesced_group : public winnow_lanes {
public:
  using winnow_lanes::winnow_lanes;
  unsigned meta_group_rank() const { return 0; }
  unsigned meta_group_size() const { return 1; }
};
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(__activemask(line));
}

// Lanes of the tile of `size` threads (a power of two) that this thread belongs to; fewer where
// the block ends.
inline unsigned winnow_tile_mask(unsigned size) {
  const unsigned first = winnow_lane() & ~(size - 1u);
  const unsigned tile = (size >= 32 ? 0xffffffffu : (1u << size) - 1u) << first;
  const unsigned warp = winnow_thread_rank() & ~31u;
  const unsigned left = thread_block::size() - warp;
  return tile & (left >= 32 ? 0xffffffffu : (1u << left) - 1u);
}

template <unsigned Size, class Parent = thread_block>
class thread_block_tile : public winnow_lanes {
public:
  static_assert(Size <= 32, "winnow-unsupported: cooperative groups tile of more than 32 threads");
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
  const unsigned yes = __ballot_sync(group.winnow_mask(), predicate, line);
  return coalesced_group(predicate ? yes : group.winnow_mask() & ~yes);
}
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& group, Label label,
                                         int line = __builtin_LINE()) {
  return coalesced_group(__match_any_sync(group.winnow_mask(), label, line));
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
