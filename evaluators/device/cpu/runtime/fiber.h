#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace winnow::evaluators::cpu {

constexpr std::size_t kFiberStackBytes = std::size_t{256} << 10;

/// A stack for running device code. It belongs to one OS thread for ever, so thread-local addresses
/// that a compiler keeps across a switch stay valid.
class Fiber {
public:
  using Entry = void (*)(void* argument);

  Fiber();                           ///< the stack of the calling OS thread
  explicit Fiber(std::size_t index); ///< a new stack with a guard page below it; throws Error
  ~Fiber();
  Fiber(const Fiber&) = delete; // owns a mapping; contexts point into it
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the fiber start again at `entry`, which must never return.
  void prepare(Entry entry, void* argument);
  /// Leaves `from`, which may be continued later, and continues this fiber.
  void switch_from(Fiber& from);

  bool guard_contains(const void* address) const;
  /// Whether the bytes are on this stack, at `lowest` or above.
  bool contains(const std::byte* begin, std::size_t bytes, const void* lowest) const;

private:
  friend struct FiberSwitch;
  void* context_ = nullptr;
  std::byte* mapping_ = nullptr;
  std::byte* top_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // For AddressSanitizer, which must know the current stack.
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
};

/// A pool of fibers for reuse, because making a fiber takes microseconds.
class FiberPool {
public:
  Fiber& take();
  void give_back(Fiber& fiber) { free_.push_back(&fiber); }
  /// Makes all fibers free again, whatever their state.
  void abandon_all();
  bool guard_contains(const void* address) const;

private:
  std::deque<Fiber> fibers_;
  std::vector<Fiber*> free_;
};

} // namespace winnow::evaluators::cpu
