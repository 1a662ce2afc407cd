#include "evaluators/device/cpu/runtime/block_scheduler.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace winnow::evaluators::cpu {

/// Called when no thread can continue. In each warp, the lanes that wait for the active mask at the
/// same place become the active lanes.
bool BlockScheduler::release_active_masks() {
  bool released = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const unsigned first = static_cast<unsigned>(w) * kWarpSize;
    const unsigned end = std::min(first + kWarpSize, thread_count_);
    unsigned lanes = 0;
    int line = 0;
    for (unsigned i = first; i < end; ++i) {
      if (threads_[i].state == State::Active && (lanes == 0 || threads_[i].line == line)) {
        line = threads_[i].line;
        lanes |= lane_bit(i);
      }
    }
    for (unsigned i = first; i < end; ++i) {
      if ((lanes & lane_bit(i)) != 0) {
        threads_[i].mask = lanes;
        wake(i);
      }
    }
    released = released || lanes != 0;
  }
  return released;
}

BlockScheduler::Slot& BlockScheduler::slot_for(Warp& warp, unsigned mask, int op_id, const char* op,
                                               int line) {
  for (Slot* slot : warp.pending) {
    if (slot->mask == mask) {
      if (slot->op_id != op_id) {
        fail(tasks::Verdict::LaunchError,
             fmt::format("calls {} (line {}) while lanes of the same mask {:#010x} wait in {} "
                         "(line {})",
                         op, line, mask, slot->op, slot->line));
      }
      return *slot;
    }
  }
  if (free_slots_.empty()) {
    free_slots_.push_back(&slots_.emplace_back());
  }
  Slot& slot = *free_slots_.back();
  free_slots_.pop_back();
  slot.mask = mask;
  slot.arrived = 0;
  slot.op_id = op_id;
  slot.op = op;
  slot.line = line;
  warp.pending.push_back(&slot);
  return slot;
}

const WinnowGather* BlockScheduler::gather(unsigned mask, unsigned long long value, int op_id,
                                           const char* op, int line) {
  const unsigned index = thread_index();
  Thread& thread = threads_[index];
  release_held(thread);
  if ((mask & lane_bit(index)) == 0) {
    fail(tasks::Verdict::LaunchError,
         fmt::format("calls {} (line {}) with mask {:#010x}, which leaves out its own lane {}", op,
                     line, mask, index % kWarpSize));
  }
  const unsigned warp_index = index / kWarpSize;
  Slot& slot = slot_for(warps_[warp_index], mask, op_id, op, line);
  slot.data.values[index % kWarpSize] = value;
  slot.arrived |= lane_bit(index);
  complete_if_all_came(warp_index, slot);
  if (thread.held != &slot) {
    wait(State::Gather, op, line, mask);
  }
  return &slot.data;
}

void BlockScheduler::complete_if_all_came(unsigned warp_index, Slot& slot) {
  Warp& warp = warps_[warp_index];
  if ((slot.mask & warp.live & ~slot.arrived) != 0) {
    return;
  }
  warp.pending.erase(std::find(warp.pending.begin(), warp.pending.end(), &slot));
  slot.data.lanes = slot.arrived;
  if (launch()->checker != nullptr) {
    launch()->checker->warp_operation(check_, warp_index, slot.arrived);
  }
  if (launch()->accesses != nullptr && (warp.live & ~slot.arrived) == 0) {
    launch()->accesses->meet(accesses_, warp_index);
  }
  ++facts_.warp_operations;
  slot.readers = static_cast<unsigned>(std::popcount(slot.arrived));
  for (unsigned lanes = slot.arrived; lanes != 0; lanes &= lanes - 1) {
    const unsigned i = warp_index * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes));
    threads_[i].held = &slot;
    if (threads_[i].state == State::Gather) {
      wake(i);
    }
  }
}

void BlockScheduler::release_held(Thread& thread) {
  if (thread.held != nullptr && --thread.held->readers == 0) {
    free_slots_.push_back(thread.held);
  }
  thread.held = nullptr;
}

unsigned BlockScheduler::active_mask(const char* op, int line) {
  Thread& thread = current_thread();
  release_held(thread);
  wait(State::Active, op, line, 0);
  return thread.mask;
}

} // namespace winnow::evaluators::cpu
