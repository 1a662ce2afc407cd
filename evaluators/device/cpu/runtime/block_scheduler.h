#pragma once

#include "evaluators/device/cpu/runtime/access_counter.h"
#include "evaluators/device/cpu/runtime/checker.h"
#include "evaluators/device/cpu/runtime/fiber.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/launch.h"
#include "evaluators/device/cpu/runtime/run_facts.h"
#include "evaluators/device/device_fault.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// Runs one block at a time on the OS thread that owns it. A "loop" fiber starts the device threads
/// one after the other, as plain calls. Only a thread that must wait keeps its fiber; a new fiber
/// then continues the loop. So threads that never wait cost no switch.
class BlockScheduler {
public:
  BlockScheduler() = default;
  ~BlockScheduler();
  BlockScheduler(const BlockScheduler&) = delete; // fibers point to this object
  BlockScheduler& operator=(const BlockScheduler&) = delete;

  /// Runs blocks [first, first + count) of the launch's grid.
  std::optional<DeviceFault> run(const Launch& launch, std::uint64_t first, std::uint64_t count);

  // Implementations of a module's entry points (abi.h) for the thread that is running.
  int barrier(int kind, int predicate, const char* op, int line);
  const WinnowGather* gather(unsigned mask, unsigned long long value, int op_id, const char* op,
                             int line);
  unsigned active_mask(const char* op, int line);
  void grid_barrier(int line);
  void yield(int line);
  [[noreturn]] void trap(const char* what, int line);
  [[noreturn]] void stop_printing(long limit_bytes);
  [[noreturn]] void refuse_percent_n();
  void* dynamic_shared() const { return shared_.data; }

  /// The scheduler that runs blocks on the calling OS thread; null outside of run().
  static BlockScheduler* current();

  // For the fault reporter, the watchdog and the checker.
  const Launch* launch() const { return launch_.load(std::memory_order_relaxed); }
  std::uint64_t block_index() const { return block_.load(std::memory_order_relaxed); }
  /// Linear index in the block; exact only while threads run one by one.
  unsigned thread_index() const { return thread_.load(std::memory_order_relaxed); }
  /// True while threads run one by one, so that thread_index() is exact.
  bool thread_is_exact() const { return exact_.load(std::memory_order_relaxed); }
  /// "thread (1,0,0) of block (0,0,0) of kernel 'k'", as far as known.
  std::string where() const;
  const GuardedBuffer& shared() const { return shared_; }
  BlockCheck& check() { return check_; }
  BlockAccesses& accesses() { return accesses_; }
  /// Whether the bytes are in the part of its stack that the running thread uses. Call it on that
  /// stack.
  bool on_own_stack(const std::byte* begin, std::size_t bytes) const;
  /// Whether the runtime lends the bytes to the running thread, to read them: its arguments, its
  /// coordinates, the result of its last warp operation.
  bool lends(const std::byte* begin, std::size_t bytes) const;
  /// Ends the launch with this fault. The running thread never continues.
  [[noreturn]] void stop(DeviceFault fault);
  bool stack_guard_contains(const void* address) const { return fibers_.guard_contains(address); }
  /// For a fault in a vectorised block: runs its threads one by one until the fault comes again.
  void replay_block();

private:
  enum class State : std::uint8_t {
    NotStarted,
    Runnable,
    Barrier,
    GridBarrier,
    Gather,
    Active,
    Exited
  };
  struct Slot;
  struct Thread {
    Fiber* fiber = nullptr;
    Slot* held = nullptr; ///< the slot whose values the thread may still read
    const char* op = "";
    int line = 0;
    unsigned mask = 0; ///< mask of the warp operation in which it waits, or its result
    State state = State::NotStarted;
  };
  /// One warp operation. It is pending until all live lanes of `mask` have arrived; then they read
  /// it.
  struct Slot {
    WinnowGather data{};
    unsigned mask = 0;
    unsigned arrived = 0;
    unsigned readers = 0;
    int op_id = 0;
    const char* op = "";
    int line = 0;
  };
  struct Warp {
    unsigned live = 0; ///< lanes that have not exited
    unsigned runnable = 0;
    std::vector<Slot*> pending;
  };
  struct BarrierState {
    unsigned arrived = 0;
    unsigned votes = 0;
  };

  void run_fast(std::uint64_t first, std::uint64_t count);
  void run_one_by_one(std::uint64_t first, std::uint64_t count);
  void begin_block(std::uint64_t index);
  void map_shared(std::size_t bytes);
  void poison_shared();
  static void blocks_entry(void* self);
  static void threads_entry(void* self);
  void run_threads();
  void switch_to(Fiber& fiber);

  void exit_thread();
  void wait(State state, const char* op, int line, unsigned mask);
  void wake(unsigned thread);
  /// The fiber to continue with; also sets thread_. Null when no thread can run.
  Fiber* next_fiber(bool own_warp_first);
  bool take_runnable(std::uint32_t warps, unsigned after);
  bool release_active_masks();
  void release_barrier();
  void release_grid_barrier();
  void complete_if_all_came(unsigned warp, Slot& slot);
  void release_held(Thread& thread);
  Slot& slot_for(Warp& warp, unsigned mask, int op_id, const char* op, int line);
  [[noreturn]] void fail(tasks::Verdict verdict, std::string what);
  [[noreturn]] void fail_deadlock();
  std::string describe_waiting() const;
  Thread& current_thread() { return threads_[thread_index()]; }
  void set_thread(unsigned thread) { thread_.store(thread, std::memory_order_relaxed); }

  std::atomic<const Launch*> launch_{nullptr};
  std::atomic<std::uint64_t> block_{0};
  std::atomic<unsigned> thread_{0};
  std::atomic<bool> exact_{false};
  WinnowCoordinates at_{};
  std::uint64_t end_block_ = 0; ///< of a fast run

  Fiber home_;
  FiberPool fibers_;
  Fiber* running_ = nullptr;
  std::optional<DeviceFault> fault_;

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::uint32_t runnable_warps_ = 0; ///< one bit per warp
  unsigned thread_count_ = 0;
  unsigned next_thread_ = 0;
  unsigned live_ = 0;
  BarrierState barrier_;
  BarrierState grid_barrier_;
  std::array<int, 3> barrier_result_{}; ///< count, and, or
  std::deque<Slot> slots_;
  std::vector<Slot*> free_slots_;
  GuardedBuffer shared_;
  BlockCheck check_;       ///< check mode only
  BlockAccesses accesses_; ///< used while accesses are counted
  RunFacts facts_;         ///< of this run(); counting is much cheaper than waiting
};

} // namespace winnow::evaluators::cpu
