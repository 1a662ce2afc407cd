// The parts of cooperative_groups.h that differ between the CPU device and AMD GPUs.
#pragma once
#include "winnow_cpu.h"

using WinnowLaneMask = unsigned;
constexpr unsigned winnow_largest_tile = 32;
inline void winnow_wait_block(int line) {
  winnow_block_sync(WinnowBarrierPlain, 0, "block.sync", line);
}
inline void winnow_wait_grid(int line) { winnow_grid_sync(line); }

namespace cooperative_groups {

// Lanes of the tile of `size` threads (a power of two) that this thread belongs to; fewer where
// the block ends.
inline WinnowLaneMask winnow_tile_mask(unsigned size) {
  const unsigned first = winnow_lane() & ~(size - 1u);
  const unsigned tile = (size >= 32 ? 0xffffffffu : (1u << size) - 1u) << first;
  const unsigned warp = winnow_thread_rank() & ~31u;
  const unsigned left = blockDim.x * blockDim.y * blockDim.z - warp;
  return tile & (left >= 32 ? 0xffffffffu : (1u << left) - 1u);
}
inline WinnowLaneMask winnow_active_lanes(int line) { return __activemask(line); }
inline WinnowLaneMask winnow_lanes_where(WinnowLaneMask mask, bool predicate, int line) {
  return __ballot_sync(mask, predicate, line);
}
template <class Label>
inline WinnowLaneMask winnow_lanes_like(WinnowLaneMask mask, Label label, int line) {
  return __match_any_sync(mask, label, line);
}

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

} // namespace cooperative_groups
