#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace winnow::evaluators::cpu {

constexpr std::size_t kFiberStackBytes = std::size_t{256} << 10;

/// A stack of its own to run device code on. Belongs to one OS thread for ever, so thread-local
/// addresses that a compiler keeps across a switch stay right.
class Fiber {
public:
  using Entry = void (*)(void* argument);

  Fiber();                           ///< the stack of the calling OS thread
  explicit Fiber(std::size_t index); ///< a new stack, a guard page below it. Throws Error.
  ~Fiber();
  Fiber(const Fiber&) = delete; // owns a mapping; contexts point into it
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the fiber start anew at `entry`, which must never return.
  void prepare(Entry entry, void* argument);
  /// Leaves `from` (to be continued later, or never) and continues this one.
  void switch_from(Fiber& from);

  bool guard_contains(const void* address) const;

private:
  friend struct FiberSwitch;
  void* context_ = nullptr;
  std::byte* mapping_ = nullptr;
  std::byte* top_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // For AddressSanitizer, which must know on which stack code runs.
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
};

/// Fibers that are used again and again, as making one costs microseconds.
class FiberPool {
public:
  Fiber& take();
  void give_back(Fiber& fiber) { free_.push_back(&fiber); }
  /// All fibers are free again, whatever they were doing.
  void abandon_all();
  bool guard_contains(const void* address) const;

private:
  std::deque<Fiber> fibers_;
  std::vector<Fiber*> free_;
};

} // namespace winnow::evaluators::cpu
