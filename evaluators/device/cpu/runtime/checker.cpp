#include "evaluators/device/cpu/runtime/checker.h"

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/memory_fault.h"
#include "evaluators/device/cpu/runtime/module.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace winnow::evaluators::cpu {
namespace {

constexpr std::size_t kMaxFindings = 16;
// So far behind an array, a message still names the array.
constexpr std::size_t kNearBytes = std::size_t{1} << 20U;

bool writes(Checker::Access access) {
  return access != Checker::Access::Read && access != Checker::Access::AtomicRead;
}
bool is_atomic(Checker::Access access) {
  return access != Checker::Access::Read && access != Checker::Access::Write;
}
const char* verb(Checker::Access access) {
  return writes(access) ? "writes" : "reads";
}

bool same_thread(const Stamp& a, const Stamp& b) {
  return a.segment == b.segment && a.thread == b.thread;
}

} // namespace

std::uint32_t Checker::new_segment(std::uint32_t block, std::uint32_t instance,
                                   std::uint32_t phase) {
  segments_.push_back({block, instance, phase});
  return static_cast<std::uint32_t>(segments_.size()) - 1;
}

void Checker::begin_launch() {
  ++phase_;
  ordering_used_ = false;
  map_regions();
}

void Checker::map_regions() {
  // With the sizes: a buffer of another size may be at the same address.
  std::vector<std::pair<const std::byte*, std::size_t>> now;
  for (const GuardedBuffer& buffer : buffers_.all()) {
    now.emplace_back(buffer.data, buffer.bytes);
  }
  if (now == mapped_ && !now.empty()) {
    return;
  }
  mapped_ = now;
  globals_.clear();
  for (const GuardedBuffer& buffer : buffers_.all()) {
    globals_.add(ShadowRegion::Kind::Buffer, buffer.name, buffer.data, buffer.bytes);
  }
  for (const ModuleVariable& variable : module_.image().globals) {
    globals_.add(ShadowRegion::Kind::Variable, variable.name,
                 module_.load_address() + variable.offset, variable.bytes);
  }
}

void Checker::begin_block(BlockScheduler& scheduler) {
  BlockCheck& block = scheduler.check();
  map_shared(scheduler);
  block.phase = phase_;
  block.segment =
      new_segment(static_cast<std::uint32_t>(scheduler.block_index()), ++instances_, block.phase);
  block.seen.assign(scheduler.launch()->threads(), {});
  for (std::size_t i = 0; i < block.seen.size(); ++i) {
    block.seen[i][i % kWarpSize] = 1;
  }
}

void Checker::map_shared(BlockScheduler& scheduler) {
  BlockCheck& block = scheduler.check();
  block.shared.clear();
  block.static_shared = module_.thread_local_block();
  for (const ModuleVariable& array : module_.image().shared) {
    block.shared.add(ShadowRegion::Kind::StaticShared, short_name(array.name),
                     block.static_shared + array.offset, array.bytes);
  }
  const GuardedBuffer& dynamic = scheduler.shared();
  block.shared.add(ShadowRegion::Kind::DynamicShared, dynamic.name, dynamic.data, dynamic.bytes);
}

void Checker::barrier(BlockCheck& block) {
  settle();
  const Segment& now = segments_[block.segment];
  block.segment = new_segment(now.block, now.instance, block.phase);
}

void Checker::grid_barrier(BlockCheck& block) {
  ++block.phase;
  phase_ = std::max(phase_, block.phase);
  barrier(block);
}

void Checker::warp_operation(BlockCheck& block, unsigned warp, unsigned lanes) {
  settle();
  std::array<std::uint32_t, kWarpSize> all{};
  const unsigned first = warp * kWarpSize;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const auto& seen = block.seen[first + static_cast<unsigned>(std::countr_zero(rest))];
    for (unsigned i = 0; i < kWarpSize; ++i) {
      all[i] = std::max(all[i], seen[i]);
    }
  }
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    block.seen[first + lane] = all;
    ++block.seen[first + lane][lane]; // no other lane has seen this lane's later accesses
  }
}

bool Checker::ordered(const BlockCheck& block, unsigned thread, const Stamp& before,
                      Conflict& conflict) const {
  conflict.other_block = false;
  if (before.segment == block.segment) {
    return before.thread == thread ||
           (before.thread / kWarpSize == thread / kWarpSize &&
            block.seen[thread][before.thread % kWarpSize] >= before.clock);
  }
  const Segment& then = segments_[before.segment];
  const Segment& now = segments_[block.segment];
  conflict.other_block = then.instance != now.instance;
  return then.phase < block.phase || !conflict.other_block;
}

Checker::Conflict Checker::find_conflict(const BlockCheck& block, unsigned thread,
                                         const ShadowCell& cell, Access access) const {
  Conflict conflict;
  const auto races = [&](const Stamp& stamp, bool stamp_writes) {
    if (stamp.segment == 0 || (!stamp_writes && !writes(access)) ||
        (stamp.atomic != 0 && is_atomic(access)) || ordered(block, thread, stamp, conflict)) {
      return false;
    }
    conflict.before = &stamp;
    conflict.before_writes = stamp_writes;
    return true;
  };
  (void)(races(cell.write, true) || races(cell.reads[0], false) || races(cell.reads[1], false));
  return conflict;
}

void Checker::record(const BlockCheck& block, unsigned thread, ShadowCell& cell,
                     Access access) const {
  Stamp now{};
  now.segment = block.segment & 0x7fffffffU;
  now.atomic = is_atomic(access) ? 1U : 0U;
  now.thread = thread & 0x3ffU;
  now.clock = block.seen[thread][thread % kWarpSize] & 0x3fffffU;
  if (writes(access)) {
    cell.write = now;
    return;
  }
  if (!same_thread(cell.reads[0], now)) {
    cell.reads[1] = cell.reads[0];
  }
  cell.reads[0] = now;
}

void Checker::access(BlockScheduler& scheduler, const void* address, std::size_t bytes,
                     Access access) {
  settle();
  const auto* first = static_cast<const std::byte*>(address);
  BlockCheck& block = scheduler.check();
  ShadowRegion* region = block.shared.find(first);
  if (region == nullptr) {
    region = globals_.find(first);
  }
  if (region == nullptr) {
    check_outside(scheduler, first, bytes, access);
    return;
  }
  if (is_atomic(access) && !region->shared()) {
    ordering_used_ = true;
  }
  const unsigned thread = scheduler.thread_index();
  const auto offset = static_cast<std::size_t>(first - region->begin);
  const std::size_t inside = std::min(bytes, region->bytes - offset);
  if (inside < bytes) {
    check_outside(scheduler, region->end(), bytes - inside, access);
  }
  Conflict worst;
  for (std::size_t i = 0; i < inside; ++i) {
    ShadowCell& cell = region->cells[offset + i];
    if (region->shared() && access != Access::Write && access != Access::AtomicStore) {
      check_initialised(scheduler, *region, offset + i, access);
    }
    const Conflict conflict = find_conflict(block, thread, cell, access);
    if (conflict.before != nullptr && worst.before == nullptr) {
      worst = conflict;
      report_race(scheduler, *region, offset + i, inside - i, access, conflict);
    }
    record(block, thread, cell, access);
  }
}

/// -fsanitize=thread calls nothing for an access of more than 16 bytes at once, which vector types
/// of the compiler make. Whether one has stored here: then bytes that no write is known of have
/// lost their poison.
bool Checker::is_stored_unseen(const ShadowRegion& region, std::size_t offset) {
  constexpr std::size_t kSeen = 16; // bytes of the largest access that is seen
  const std::size_t begin = offset / kSeen * kSeen;
  const std::size_t end = std::min(begin + kSeen, region.bytes);
  for (std::size_t i = begin; i < end; ++i) {
    if (region.cells[i].write.segment == 0 && region.begin[i] != poison_at(region.begin + i)) {
      return true;
    }
  }
  return false;
}

/// Finds uninitialised reads. Shared memory holds random data of an earlier block.
void Checker::check_initialised(BlockScheduler& scheduler, const ShadowRegion& region,
                                std::size_t offset, Access access) {
  ShadowCell& cell = region.cells[offset];
  if (cell.write.segment != 0 || is_stored_unseen(region, offset)) {
    return; // the shadow of shared memory is cleared for every block
  }
  add("uninitialised " + region.name,
      {tasks::Verdict::Unstable,
       fmt::format("{} {} byte {} of {}, which is uninitialised: no thread of the block has "
                   "written the byte yet (is a barrier missing, or the initialisation?)",
                   scheduler.where(), verb(access), offset, region.describe()),
       true});
  record(scheduler.check(), scheduler.thread_index(), cell, Access::AtomicWrite);
}

void Checker::report_race(BlockScheduler& scheduler, const ShadowRegion& region, std::size_t offset,
                          std::size_t bytes, Access access, const Conflict& conflict) {
  const Stamp& before = *conflict.before;
  const Launch& launch = *scheduler.launch();
  const std::string key = fmt::format("race {} {} {} {}", region.name, conflict.before_writes,
                                      writes(access), conflict.other_block);
  if (keys_.count(key) != 0 || keys_.size() >= kMaxFindings) {
    return;
  }
  std::string other = "thread " + to_string(launch.thread_at(before.thread));
  if (conflict.other_block) {
    other += " of block " + to_string(launch.block_at(segments_[before.segment].block));
  }
  const bool maybe_ordered = ordering_used_ && !region.shared();
  CheckFinding finding{
      tasks::Verdict::Unstable,
      fmt::format("data race on byte {} of {}: {} {} the byte that {} has {}, and nothing orders "
                  "the two accesses{}",
                  offset, region.describe(), scheduler.where(), verb(access), other,
                  conflict.before_writes ? "written" : "read",
                  maybe_ordered ? " except atomics or fences, which check mode does not follow"
                                : ""),
      !maybe_ordered};
  if (!writes(access)) {
    add(key, std::move(finding));
    return;
  }
  PendingWrite pending;
  pending.address = region.begin + offset;
  pending.bytes = std::min(bytes, pending.old.size());
  std::memcpy(pending.old.data(), pending.address, pending.bytes);
  pending.key = key;
  pending.finding = std::move(finding);
  pending_.push_back(std::move(pending));
}

void Checker::settle() {
  for (PendingWrite& write : pending_) {
    if (std::memcmp(write.address, write.old.data(), write.bytes) != 0) {
      add(write.key, std::move(write.finding));
    }
  }
  pending_.clear();
}

/// Checks an access outside of all arrays. An access to a gap around an array hits nothing, so the
/// run goes on. Any other access that the thread may not make would hit the memory of something
/// else, so it never happens.
void Checker::check_outside(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
                            Access access) {
  if (bytes != 0 && !is_own(scheduler, begin, bytes, access) &&
      !check_gap(scheduler, begin, bytes, access)) {
    scheduler.stop(foreign_memory(scheduler, begin, access));
  }
}

/// Whether the bytes are memory that a thread has besides arrays: its stack and the variables of
/// winnow_core.h, and to read, constants and what the runtime lends it.
bool Checker::is_own(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
                     Access access) const {
  const ModuleImage& image = module_.image();
  const auto offset_from = [begin](const std::byte* start) {
    return reinterpret_cast<std::uintptr_t>(begin) - reinterpret_cast<std::uintptr_t>(start);
  };
  return scheduler.on_own_stack(begin, bytes) ||
         image.in_runtime_variable(offset_from(scheduler.check().static_shared), bytes) ||
         (!writes(access) && (scheduler.lends(begin, bytes) ||
                              image.in_constants(offset_from(module_.load_address()), bytes)));
}

/// False when the bytes are in no gap.
bool Checker::check_gap(BlockScheduler& scheduler, const std::byte* begin, std::size_t bytes,
                        Access access) {
  const GuardedBuffer* buffer = buffers_.nearest(begin);
  BlockCheck& block = scheduler.check();
  std::string owner;
  if (buffer != nullptr && holds({buffer->pages, buffer->pages_bytes}, begin, bytes)) {
    owner = buffer->name;
  } else if (holds({block.static_shared, module_.image().thread_local_bytes}, begin, bytes)) {
    const ShadowRegion* array = block.shared.find_before(begin);
    owner = array != nullptr ? array->name : "";
  } else {
    return false;
  }
  const DeviceFault fault = foreign_memory(scheduler, begin, access);
  add("overrun " + owner, {fault.verdict, fault.detail, true});
  return true;
}

/// The fault of an access to memory that is not the thread's. Names the array that lies before it.
DeviceFault Checker::foreign_memory(BlockScheduler& scheduler, const std::byte* address,
                                    Access access) {
  BlockCheck& block = scheduler.check();
  for (const ShadowRegion* array :
       {block.shared.find_before(address), globals_.find_before(address)}) {
    if (array != nullptr && array->in_module() && address < array->end() + kNearBytes) {
      return {tasks::Verdict::OutOfBounds,
              fmt::format("{} {} outside of {}: byte {} of {} bytes", scheduler.where(),
                          verb(access), array->describe(), address - array->begin, array->bytes)};
    }
  }
  if (holds({block.static_shared, module_.image().thread_local_bytes}, address, 1)) {
    return {tasks::Verdict::OutOfBounds,
            fmt::format("{} {} before the first shared array", scheduler.where(), verb(access))};
  }
  return memory_fault(scheduler, buffers_, address, verb(access));
}

void Checker::add(const std::string& key, CheckFinding finding) {
  if (keys_.size() < kMaxFindings && keys_.insert(key).second) {
    findings_.push_back(std::move(finding));
  }
}

} // namespace winnow::evaluators::cpu
