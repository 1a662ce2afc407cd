#pragma once

#include "evaluators/device/cpu/runtime/access_patterns.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace winnow::evaluators::cpu {

class BlockScheduler;

/// Plain loads or stores of one kind of memory. Bytes and accesses are those of all threads and
/// exact; the rest is extrapolated from a sample of blocks, for each place in the code by itself.
struct AccessTotals {
  std::uint64_t bytes = 0; ///< that threads ask for: nothing is cached here
  std::uint64_t accesses = 0;
  std::uint64_t sampled = 0;
  double requests = 0;     ///< accesses of warps
  double transactions = 0; ///< global: 32-byte sectors; shared: wavefronts
  double ideal = 0;        ///< wavefronts without bank conflicts; shared memory only
  double lanes = 0;        ///< that take part in the requests
};

struct AccessCounts {
  AccessTotals global_reads, global_writes, shared_reads, shared_writes;
  std::uint64_t atomics = 0; ///< read-modify-writes of threads; their bytes are counted nowhere
};

/// What the counter remembers of a block while it runs; each scheduler has one.
struct BlockAccesses {
  struct Range {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t shift = 0; ///< from where a GPU's allocator would place it down to here
  };
  struct Kept {
    std::uint64_t address = 0;
    std::uint32_t site = 0;
    std::uint32_t order = 0; ///< among the warp's
    std::uint16_t occurrence = 0;
    std::uint8_t lane = 0;
    std::uint8_t bytes = 0;
  };
  struct Warp {
    std::vector<Kept> kept;
    std::vector<std::uint16_t> occurrences; ///< by site and lane
  };
  std::vector<Range> shared;
  std::vector<Warp> warps;
  bool sampled = false;
};

/// Counts the memory accesses of instrumented modules instead of checking them. Lanes run one after
/// the other, so what a warp would do together has to be put together: accesses from the same
/// instruction of the module that are each lane's n-th since the warp last was as one (a barrier, a
/// warp operation of all its lanes). Lanes that do not come there so often take no part. Blocks run
/// one at a time.
class AccessCounter {
public:
  enum class Kind : std::uint8_t { Read, Write, Atomic };

  explicit AccessCounter(const GuardedBuffers& buffers) : buffers_(buffers) {}

  void begin_launch(const Launch& launch);
  void begin_block(BlockScheduler& scheduler);
  /// `site`: where in the module's code.
  void access(BlockScheduler& scheduler, const void* site, const void* address, std::size_t bytes,
              Kind kind);
  /// The lanes of a warp, or of all warps of the block, are at the same place or have exited.
  void meet(BlockAccesses& block, unsigned warp);
  void meet(BlockAccesses& block);

  AccessCounts counts() const;

private:
  struct Site {
    bool shared = false;
    bool write = false;
    std::uint64_t accesses = 0;
    std::uint64_t sampled = 0;
    std::uint64_t requests = 0;
    std::uint64_t transactions = 0;
    std::uint64_t ideal = 0;
    std::uint64_t lanes = 0;
    std::size_t kind() const { return (shared ? 2U : 0U) + (write ? 1U : 0U); }
  };
  /// A warp's access that the next one may belong to.
  struct Open {
    std::vector<LaneAccess> lanes;
    std::uint32_t site = 0;
  };
  static constexpr std::size_t kKinds = 4;

  std::uint32_t site_index(const void* site, bool shared, bool write);
  void keep(BlockAccesses& block, unsigned thread, const BlockAccesses::Kept& access);
  void give_up(BlockAccesses& block);
  void count_warp(std::vector<BlockAccesses::Kept>& kept);
  void count_request(const Open& open);

  const GuardedBuffers& buffers_;
  std::vector<BlockAccesses::Range> globals_;
  std::vector<std::uint64_t> sample_; ///< indices of blocks, ascending
  std::unordered_map<std::uint64_t, std::uint32_t> site_of_;
  std::vector<Site> sites_;
  std::array<std::uint64_t, kKinds> bytes_{};
  std::uint64_t atomics_ = 0;
  std::size_t kept_ = 0; ///< by all blocks now
};

} // namespace winnow::evaluators::cpu
