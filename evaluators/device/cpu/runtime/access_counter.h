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

/// Plain loads or stores of one kind of memory. Bytes and accesses are exact totals over all
/// threads. The other values are extrapolated from a sample of blocks, separately for each place in
/// the code.
struct AccessTotals {
  std::uint64_t bytes = 0; ///< requested by threads; nothing is cached here
  std::uint64_t accesses = 0;
  std::uint64_t sampled = 0;
  double requests = 0;     ///< accesses of warps
  double transactions = 0; ///< global: 32-byte sectors; shared: wavefronts
  double ideal = 0;        ///< shared memory only: wavefronts without bank conflicts
  double lanes = 0;        ///< lanes that take part in the requests
};

struct AccessCounts {
  AccessTotals global_reads, global_writes, shared_reads, shared_writes;
  /// Read-modify-writes of threads. Their bytes are in none of the totals.
  std::uint64_t atomics = 0;
};

/// The accesses of a running block. Each scheduler has one.
struct BlockAccesses {
  struct Range {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    std::size_t shift = 0; ///< distance from the address on a GPU to the address here
  };
  struct Kept {
    std::uint64_t address = 0;
    std::uint32_t site = 0;
    std::uint32_t order = 0; ///< position among the warp's accesses
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

/// Counts the memory accesses of instrumented modules instead of checking them. Lanes run one by
/// one here. To rebuild a warp-wide access, the counter groups, per instruction, the n-th access of
/// each lane since the last synchronisation of the warp (a barrier, or a warp operation of all its
/// lanes). A lane without an n-th access takes no part. Blocks run one at a time. one at a time.
class AccessCounter {
public:
  enum class Kind : std::uint8_t { Read, Write, Atomic };

  explicit AccessCounter(const GuardedBuffers& buffers) : buffers_(buffers) {}

  void begin_launch(const Launch& launch);
  void begin_block(BlockScheduler& scheduler);
  /// `site`: address of the access in the module's code.
  void access(BlockScheduler& scheduler, const void* site, const void* address, std::size_t bytes,
              Kind kind);
  /// A synchronisation: all lanes of the warp, or of all warps of the block, are at the same place
  /// or have exited.
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
  /// A warp's access that the next access may extend.
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
  std::size_t kept_ = 0; ///< of all blocks at present
};

} // namespace winnow::evaluators::cpu
