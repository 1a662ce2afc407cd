#pragma once

#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/cpu/runtime/shadow.h"
#include "evaluators/device/device_fault.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace winnow::evaluators::cpu {

class BlockScheduler;
class Module;

/// The checker's data about a running block. Each scheduler has one.
struct BlockCheck {
  std::uint32_t segment = 0;
  std::uint32_t phase = 0;
  /// seen[thread][lane]: the clock of `lane` up to which `thread` has seen the accesses of that
  /// lane.
  std::vector<std::array<std::uint32_t, 32>> seen;
  ShadowMap shared;
  const std::byte* static_shared = nullptr; ///< this OS thread's copy of the static shared arrays
};

/// Finds data races, uninitialised reads and accesses out of bounds in instrumented modules. A
/// thread may touch buffers, shared memory, variables and constants of its module, and its own
/// stack; an access to any other memory ends the launch before it happens. Two
/// accesses to a byte race if one is a write, not both are atomic, and nothing orders them. A
/// barrier, a warp operation of both lanes, a grid barrier and the order of launches order
/// accesses. Blocks run one at a time.
class Checker {
public:
  /// An AtomicWrite also reads the old value; an AtomicStore does not.
  enum class Access : std::uint8_t { Read, Write, AtomicRead, AtomicWrite, AtomicStore };

  Checker(const GuardedBuffers& buffers, const Module& module)
      : buffers_(buffers), module_(module) {}

  void begin_launch();
  void begin_block(BlockScheduler& scheduler);
  void barrier(BlockCheck& block);
  void grid_barrier(BlockCheck& block);
  void warp_operation(BlockCheck& block, unsigned warp, unsigned lanes);
  void fence() { ordering_used_ = true; }
  void access(BlockScheduler& scheduler, const void* address, std::size_t bytes, Access access);
  /// Call it when a thread stops running: only then is its last write certainly done.
  void settle();

  const std::vector<CheckFinding>& findings() const { return findings_; }

private:
  struct Segment {
    std::uint32_t block = 0;    ///< index in its grid
    std::uint32_t instance = 0; ///< unique over the blocks of all launches
    /// Number of launches and grid barriers so far; earlier phases have ended
    std::uint32_t phase = 0;
  };
  struct Conflict {
    const Stamp* before = nullptr;
    bool before_writes = false;
    bool other_block = false;
  };
  /// A racing write, reported before it happens. It counts only if it changes the memory.
  struct PendingWrite {
    const std::byte* address = nullptr;
    std::array<std::byte, 16> old{};
    std::size_t bytes = 0;
    std::string key;
    CheckFinding finding;
  };

  std::uint32_t new_segment(std::uint32_t block, std::uint32_t instance, std::uint32_t phase);
  void map_regions();
  void map_shared(BlockScheduler& scheduler);
  void check_outside(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
                     Access access);
  bool is_own(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
              Access access) const;
  bool check_gap(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
                 Access access);
  DeviceFault foreign_memory(BlockScheduler& scheduler, const std::byte* address, Access access);
  bool ordered(const BlockCheck& block, unsigned thread, const Stamp& before,
               Conflict& conflict) const;
  Conflict find_conflict(const BlockCheck& block, unsigned thread, const ShadowCell& cell,
                         Access access) const;
  void record(const BlockCheck& block, unsigned thread, ShadowCell& cell, Access access) const;
  static bool is_stored_unseen(const ShadowRegion& region, std::size_t offset);
  void check_initialised(BlockScheduler& scheduler, const ShadowRegion& region, std::size_t offset,
                         Access access);
  void report_race(BlockScheduler& scheduler, const ShadowRegion& region, std::size_t offset,
                   std::size_t bytes, Access access, const Conflict& conflict);
  void add(const std::string& key, CheckFinding finding);

  const GuardedBuffers& buffers_;
  const Module& module_;
  ShadowMap globals_;
  /// Addresses and sizes of the buffers from which globals_ was made.
  std::vector<std::pair<const std::byte*, std::size_t>> mapped_;
  std::vector<Segment> segments_{Segment{}};
  std::vector<PendingWrite> pending_;
  std::vector<CheckFinding> findings_;
  std::set<std::string> keys_; ///< one finding per kind and array
  std::uint32_t phase_ = 0;
  std::uint32_t instances_ = 0;
  /// This launch used fences or atomics, which may order its blocks.
  bool ordering_used_ = false;
};

} // namespace winnow::evaluators::cpu
