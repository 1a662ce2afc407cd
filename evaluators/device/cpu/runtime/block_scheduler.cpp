#include "evaluators/device/cpu/runtime/block_scheduler.h"

#include "base/error.h"
#include "evaluators/device/cpu/runtime/grid_barrier.h"
#include "evaluators/device/cpu/runtime/launch_arguments.h"
#include "evaluators/device/cpu/runtime/module.h"

#include <bit>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators::cpu {
namespace {

thread_local BlockScheduler* t_current = nullptr;

constexpr unsigned low_bits(unsigned count) {
  return count >= 32 ? ~0u : (1u << count) - 1;
}

} // namespace

BlockScheduler* BlockScheduler::current() {
  return t_current;
}

BlockScheduler::~BlockScheduler() {
  if (shared_.zone != nullptr) {
    unmap_guarded(shared_);
  }
}

void BlockScheduler::map_shared(std::size_t bytes) {
  if (shared_.zone != nullptr && shared_.bytes == bytes) {
    return;
  }
  if (shared_.zone != nullptr) {
    unmap_guarded(shared_);
    shared_ = {};
  }
  shared_ = map_guarded("dynamic shared memory", bytes, false);
}

std::optional<DeviceFault> BlockScheduler::run(const Launch& launch, std::uint64_t first,
                                               std::uint64_t count) {
  map_shared(launch.shared_bytes);
  at_.block_dim = launch.block;
  at_.grid_dim = launch.grid;
  thread_count_ = launch.threads();
  fault_.reset();
  facts_ = {};
  launch_.store(&launch, std::memory_order_relaxed);
  if (launch.watched()) {
    launch.module->thread_local_block(); // the module's code allocates it while nothing is watched
  }
  t_current = this;
  poison_shared();
  if (launch.blocking) {
    run_one_by_one(first, count);
  } else {
    run_fast(first, count);
  }
  if (launch.checker != nullptr) {
    launch.checker->settle();
  }
  if (launch.facts != nullptr) {
    facts_.blocks = count;
    facts_.threads = count * launch.threads();
    launch.facts->add(facts_);
  }
  t_current = nullptr;
  launch_.store(nullptr, std::memory_order_relaxed);
  fibers_.abandon_all();
  running_ = nullptr;
  return fault_;
}

void BlockScheduler::run_fast(std::uint64_t first, std::uint64_t count) {
  exact_.store(false, std::memory_order_relaxed);
  set_thread(0);
  block_.store(first, std::memory_order_relaxed);
  end_block_ = first + count;
  Fiber& fiber = fibers_.take();
  fiber.prepare(&blocks_entry, this);
  running_ = &fiber;
  fiber.switch_from(home_);
}

void BlockScheduler::blocks_entry(void* self) {
  auto& scheduler = *static_cast<BlockScheduler*>(self);
  const Launch& launch = *scheduler.launch();
  WinnowUint3& at = scheduler.at_.block;
  at = launch.block_at(scheduler.block_index());
  for (std::uint64_t i = scheduler.block_index(); i < scheduler.end_block_; ++i) {
    scheduler.block_.store(i, std::memory_order_relaxed);
    launch.kernel->run_block(launch.arguments, &scheduler.at_);
    // Cheaper than a new division, which would slow down small blocks.
    if (++at.x == launch.grid.x) {
      at.x = 0;
      if (++at.y == launch.grid.y) {
        at.y = 0;
        ++at.z;
      }
    }
  }
  scheduler.home_.switch_from(*scheduler.running_);
}

void BlockScheduler::run_one_by_one(std::uint64_t first, std::uint64_t count) {
  exact_.store(true, std::memory_order_relaxed);
  for (std::uint64_t i = first; i < first + count && !fault_; ++i) {
    begin_block(i);
    Fiber& fiber = fibers_.take();
    fiber.prepare(&threads_entry, this);
    running_ = &fiber;
    fiber.switch_from(home_);
  }
}

void BlockScheduler::begin_block(std::uint64_t index) {
  block_.store(index, std::memory_order_relaxed);
  at_.block = launch()->block_at(index);
  next_thread_ = 0;
  live_ = thread_count_;
  barrier_ = {};
  grid_barrier_ = {};
  runnable_warps_ = 0;
  threads_.assign(thread_count_, Thread{});
  warps_.resize((thread_count_ + kWarpSize - 1) / kWarpSize);
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    warps_[i].live = low_bits(thread_count_ - static_cast<unsigned>(i) * kWarpSize);
    warps_[i].runnable = 0;
    warps_[i].pending.clear();
  }
  free_slots_.clear();
  for (Slot& slot : slots_) {
    free_slots_.push_back(&slot);
  }
  if (Checker* checker = launch()->checker; checker != nullptr) {
    poison_shared();
    checker->begin_block(*this);
  }
  if (AccessCounter* accesses = launch()->accesses; accesses != nullptr) {
    accesses->begin_block(*this);
  }
}

/// Fills shared memory with poison, because on a GPU it starts with random contents.
void BlockScheduler::poison_shared() {
  const Module* module = launch()->module;
  if (!module->image().shared.empty()) {
    std::byte* arrays = module->thread_local_block();
    for (const ModuleVariable& array : module->image().shared) {
      poison(arrays + array.offset, arrays + array.offset + array.bytes);
    }
  }
  poison(shared_.data, shared_.data + shared_.bytes);
}

void BlockScheduler::threads_entry(void* self) {
  static_cast<BlockScheduler*>(self)->run_threads();
}

void BlockScheduler::run_threads() {
  const Launch& launch = *this->launch();
  while (next_thread_ < thread_count_) {
    const unsigned thread = next_thread_++;
    set_thread(thread);
    at_.thread = launch.thread_at(thread);
    launch.kernel->run_thread(launch.arguments, &at_);
    exit_thread();
  }
  Fiber* next = live_ == 0 ? &home_ : next_fiber(true);
  if (next == nullptr) {
    fail_deadlock();
  }
  fibers_.give_back(*running_); // no thread takes the fiber before this thread has left it
  switch_to(*next);
  __builtin_unreachable();
}

void BlockScheduler::switch_to(Fiber& fiber) {
  Fiber& from = *running_;
  running_ = &fiber;
  fiber.switch_from(from);
}

void BlockScheduler::exit_thread() {
  const unsigned index = thread_index();
  const unsigned warp_index = index / kWarpSize;
  Warp& warp = warps_[warp_index];
  Thread& thread = threads_[index];
  release_held(thread);
  thread.state = State::Exited;
  --live_;
  warp.live &= ~lane_bit(index);
  const std::vector<Slot*> pending = warp.pending;
  for (Slot* slot : pending) {
    complete_if_all_came(warp_index, *slot);
  }
  if (warp.live == 0 && launch()->accesses != nullptr) {
    launch()->accesses->meet(accesses_, warp_index);
  }
  if (barrier_.arrived != 0 && barrier_.arrived == live_) {
    release_barrier();
  }
  if (grid_barrier_.arrived != 0 && grid_barrier_.arrived == live_) {
    release_grid_barrier();
  }
}

void BlockScheduler::wait(State state, const char* op, int line, unsigned mask) {
  Thread& thread = current_thread();
  thread.fiber = running_;
  thread.op = op;
  thread.line = line;
  thread.mask = mask;
  thread.state = state;
  const bool yields = state == State::Runnable;
  if (yields) {
    wake(thread_index());
  }
  Fiber* next = next_fiber(!yields);
  if (next == nullptr) {
    fail_deadlock();
  }
  if (next != thread.fiber) {
    switch_to(*next);
  }
}

void BlockScheduler::wake(unsigned thread) {
  threads_[thread].state = State::Runnable;
  warps_[thread / kWarpSize].runnable |= lane_bit(thread);
  runnable_warps_ |= 1u << (thread / kWarpSize);
}

/// Takes the next runnable thread of these warps after `after`; wraps around at the end.
bool BlockScheduler::take_runnable(std::uint32_t warps, unsigned after) {
  warps &= runnable_warps_;
  if (warps == 0) {
    return false;
  }
  const unsigned own = after / kWarpSize;
  const unsigned later_lanes = ~low_bits(after % kWarpSize + 1);
  unsigned warp = own;
  unsigned lanes = (warps >> own & 1) != 0 ? warps_[own].runnable & later_lanes : 0;
  if (lanes == 0) {
    const std::uint32_t later_warps = warps & ~low_bits(own + 1);
    warp = static_cast<unsigned>(std::countr_zero(later_warps != 0 ? later_warps : warps));
    lanes = warps_[warp].runnable;
  }
  const unsigned thread = warp * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes));
  warps_[warp].runnable &= ~lane_bit(thread);
  if (warps_[warp].runnable == 0) {
    runnable_warps_ &= ~(1u << warp);
  }
  set_thread(thread);
  return true;
}

Fiber* BlockScheduler::next_fiber(bool own_warp_first) {
  const unsigned self = thread_index();
  do {
    // Finishing one warp first keeps few stacks in use.
    if (own_warp_first && take_runnable(1u << (self / kWarpSize), self)) {
      return threads_[thread_index()].fiber;
    }
    if (next_thread_ < thread_count_) {
      try {
        Fiber& fiber = fibers_.take();
        fiber.prepare(&threads_entry, this);
        return &fiber;
      } catch (const Error& error) {
        fail(tasks::Verdict::Infrastructure, error.what()); // an exception must not leave the fiber
      }
    }
    if (take_runnable(~0u, self)) {
      return threads_[thread_index()].fiber;
    }
  } while (release_active_masks());
  return nullptr;
}

int BlockScheduler::barrier(int kind, int predicate, const char* op, int line) {
  release_held(current_thread());
  ++barrier_.arrived;
  barrier_.votes += predicate != 0 ? 1 : 0;
  if (barrier_.arrived == live_) {
    release_barrier();
  } else {
    wait(State::Barrier, op, line, 0);
  }
  // The result is still valid: the next barrier cannot complete before this thread arrives there.
  return kind == WinnowBarrierPlain ? 0 : barrier_result_[static_cast<std::size_t>(kind) - 1];
}

void BlockScheduler::release_barrier() {
  barrier_result_ = {static_cast<int>(barrier_.votes), barrier_.votes == barrier_.arrived ? 1 : 0,
                     barrier_.votes != 0 ? 1 : 0};
  barrier_ = {};
  if (launch()->checker != nullptr) {
    launch()->checker->barrier(check_);
  }
  if (launch()->accesses != nullptr) {
    launch()->accesses->meet(accesses_);
  }
  ++facts_.barriers;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == State::Barrier) {
      wake(i);
    }
  }
}

void BlockScheduler::grid_barrier(int line) {
  if (launch()->grid_barrier == nullptr) {
    fail(tasks::Verdict::LaunchError,
         fmt::format("waits at line {} for the whole grid, but the launch is not cooperative: add "
                     "\"cooperative\": true to it",
                     line));
  }
  release_held(current_thread());
  ++grid_barrier_.arrived;
  if (grid_barrier_.arrived == live_) {
    release_grid_barrier();
  } else {
    wait(State::GridBarrier, "grid.sync()", line, 0);
  }
}

void BlockScheduler::release_grid_barrier() {
  grid_barrier_ = {};
  if (!launch()->grid_barrier->arrive_and_wait()) {
    fail(tasks::Verdict::LaunchError,
         "waits in grid.sync() for blocks that have ended or failed before grid.sync()");
  }
  if (launch()->checker != nullptr) {
    launch()->checker->grid_barrier(check_);
  }
  if (launch()->accesses != nullptr) {
    launch()->accesses->meet(accesses_);
  }
  facts_.grid_barriers += block_index() == 0 ? 1 : 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == State::GridBarrier) {
      wake(i);
    }
  }
}

void BlockScheduler::yield(int line) {
  release_held(current_thread());
  if (launch()->grid_barrier != nullptr) {
    launch()->grid_barrier->yield();
  }
  wait(State::Runnable, "__nanosleep", line, 0);
}

void BlockScheduler::trap(const char* what, int line) {
  fail(tasks::Verdict::LaunchError, fmt::format("stopped at line {}: {}", line, what));
}

void BlockScheduler::stop_printing(long limit_bytes) {
  fail(tasks::Verdict::OverLimit, fmt::format("prints more than {} bytes", limit_bytes));
}

void BlockScheduler::refuse_percent_n() {
  fail(tasks::Verdict::LaunchError, "prints with %n, which device code does not have: remove it");
}

void BlockScheduler::replay_block() {
  const Launch& launch = *this->launch();
  exact_.store(true, std::memory_order_relaxed);
  at_.block = launch.block_at(block_index());
  for (unsigned i = 0; i < thread_count_; ++i) {
    set_thread(i);
    at_.thread = launch.thread_at(i);
    launch.kernel->run_thread(launch.arguments, &at_);
  }
  exact_.store(false, std::memory_order_relaxed);
}

bool BlockScheduler::on_own_stack(const std::byte* begin, std::size_t bytes) const {
  return running_->contains(begin, bytes, __builtin_frame_address(0));
}

bool BlockScheduler::lends(const std::byte* begin, std::size_t bytes) const {
  const LaunchArguments* arguments = launch()->loaded_from;
  const Slot* held = threads_[thread_index()].held;
  return holds(std::as_bytes(std::span(&at_, 1)), begin, bytes) ||
         (arguments != nullptr && arguments->contains(begin, bytes)) ||
         (held != nullptr && holds(std::as_bytes(std::span(&held->data, 1)), begin, bytes));
}

std::string BlockScheduler::where() const {
  const Launch* launch = this->launch();
  if (launch == nullptr) {
    return "outside of a kernel";
  }
  const std::string block = fmt::format("block {} of kernel '{}'",
                                        to_string(launch->block_at(block_index())), launch->name);
  return thread_is_exact()
             ? fmt::format("thread {} of {}", to_string(launch->thread_at(thread_index())), block)
             : "a thread of " + block;
}

void BlockScheduler::fail(tasks::Verdict verdict, std::string what) {
  {
    // This fiber never continues, so no destructor runs on it, and no object on it may own memory.
    const std::string text = std::exchange(what, {});
    fault_ = DeviceFault{verdict, where() + " " + text};
  }
  switch_to(home_);
  __builtin_unreachable();
}

void BlockScheduler::stop(DeviceFault fault) {
  fault_ = std::exchange(fault, {}); // as in fail()
  switch_to(home_);
  __builtin_unreachable();
}

void BlockScheduler::fail_deadlock() {
  const Launch& launch = *this->launch();
  fault_ = DeviceFault{tasks::Verdict::LaunchError,
                       fmt::format("deadlock in block {} of kernel '{}': {}",
                                   to_string(launch.block_at(block_index())), launch.name,
                                   describe_waiting())};
  switch_to(home_);
  __builtin_unreachable();
}

std::string BlockScheduler::describe_waiting() const {
  struct Group {
    unsigned count = 0;
    unsigned example = 0;
  };
  std::map<std::tuple<int, std::string, unsigned>, Group> groups; // by line, operation, mask
  unsigned exited = 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state == State::Exited) {
      ++exited;
      continue;
    }
    const unsigned mask = thread.state == State::Gather ? thread.mask : 0;
    Group& group = groups[{thread.line, thread.op, mask}];
    group.example = group.count == 0 ? i : group.example;
    ++group.count;
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    const auto& [line, op, mask] = key;
    text += fmt::format("{} of {} threads, e.g. {}, wait at line {} in {}{}; ", group.count,
                        thread_count_, to_string(launch()->thread_at(group.example)), line, op,
                        mask != 0 ? fmt::format(" with mask {:#010x}", mask) : "");
  }
  return text + fmt::format("{} have exited", exited);
}

} // namespace winnow::evaluators::cpu
