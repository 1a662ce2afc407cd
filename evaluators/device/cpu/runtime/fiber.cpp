#include "evaluators/device/cpu/runtime/fiber.h"

#include "base/error.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WINNOW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WINNOW_ASAN 1
#endif
#endif
#ifdef WINNOW_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace winnow::evaluators::cpu {

namespace context = boost::context::detail;

namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

// For functions that never return because their fiber is abandoned and started anew. Their
// variables must not be on AddressSanitizer's fake stack, which would wait for the return.
#define WINNOW_LEFT_FOR_GOOD __attribute__((no_sanitize_address))

/// The work on both sides of a switch.
struct FiberSwitch {
  Fiber* from;
  Fiber* to;

  void before() const {
#ifdef WINNOW_ASAN
    __sanitizer_start_switch_fiber(&from->fake_stack_, to->stack_bottom_, to->stack_bytes_);
#endif
  }
  /// Runs on the new stack. `transfer` has the context in which the old fiber can continue.
  static const FiberSwitch& after(context::transfer_t transfer) {
    const auto& change = *static_cast<FiberSwitch*>(transfer.data);
    change.from->context_ = transfer.fctx;
#ifdef WINNOW_ASAN
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(change.to->fake_stack_, &bottom, &bytes);
    // The stack of an OS thread; its bounds are known only after leaving it.
    if (change.from->mapping_ == nullptr) {
      change.from->stack_bottom_ = bottom;
      change.from->stack_bytes_ = bytes;
    }
#endif
    return change;
  }
  [[noreturn]] WINNOW_LEFT_FOR_GOOD static void start(context::transfer_t transfer) {
    const Fiber& fiber = *after(transfer).to;
    fiber.entry_(fiber.argument_);
    __builtin_unreachable();
  }
};

Fiber::Fiber() = default;

Fiber::Fiber(std::size_t index) {
  const std::size_t page = page_bytes();
  void* mapping = mmap(nullptr, kFiberStackBytes + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Error("no memory for the stacks of device threads: " + std::string(std::strerror(errno)),
                "use smaller blocks or give the run more memory");
  }
  mapping_ = static_cast<std::byte*>(mapping);
  if (mprotect(mapping_, page, PROT_NONE) != 0) {
    munmap(mapping_, kFiberStackBytes + page);
    throw Error("cannot guard a device thread's stack: " + std::string(std::strerror(errno)));
  }
  stack_bottom_ = mapping_ + page;
  // Different offsets modulo the page size keep the stack tops from competing for the same cache
  // sets.
  constexpr std::size_t kColours = 16;
  constexpr std::size_t kColourBytes = 256;
  stack_bytes_ = kFiberStackBytes - index % kColours * kColourBytes;
  top_ = mapping_ + page + stack_bytes_;
}

Fiber::~Fiber() {
  if (mapping_ != nullptr) {
    const std::size_t bytes = kFiberStackBytes + page_bytes();
#ifdef WINNOW_ASAN
    __asan_unpoison_memory_region(mapping_, bytes); // other mappings may get these addresses
#endif
    munmap(mapping_, bytes);
  }
}

void Fiber::prepare(Entry entry, void* argument) {
#ifdef WINNOW_ASAN
  // Unpoison only what the last run left, and keep the fake stack. Clearing the whole stack or
  // mapping another fake stack takes longer than most device threads run.
  const auto* left_at =
      static_cast<const std::byte*>(context_ != nullptr ? context_ : stack_bottom_);
  __asan_unpoison_memory_region(left_at, static_cast<std::size_t>(top_ - left_at));
#endif
  entry_ = entry;
  argument_ = argument;
  context_ = context::make_fcontext(top_, stack_bytes_, &FiberSwitch::start);
}

WINNOW_LEFT_FOR_GOOD void Fiber::switch_from(Fiber& from) {
  FiberSwitch change{&from, this};
  change.before();
  FiberSwitch::after(context::jump_fcontext(context_, &change));
}

bool Fiber::guard_contains(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return mapping_ != nullptr && at >= mapping_ && at < static_cast<const std::byte*>(stack_bottom_);
}

bool Fiber::contains(const std::byte* begin, std::size_t bytes, const void* lowest) const {
  const auto* bottom =
      std::max(static_cast<const std::byte*>(stack_bottom_), static_cast<const std::byte*>(lowest));
  return bottom < top_ && holds({bottom, top_}, begin, bytes);
}

Fiber& FiberPool::take() {
  if (free_.empty()) {
    return fibers_.emplace_back(fibers_.size());
  }
  Fiber& fiber = *free_.back();
  free_.pop_back();
  return fiber;
}

void FiberPool::abandon_all() {
  free_.clear();
  for (Fiber& fiber : fibers_) {
    free_.push_back(&fiber);
  }
}

bool FiberPool::guard_contains(const void* address) const {
  for (const Fiber& fiber : fibers_) {
    if (fiber.guard_contains(address)) {
      return true;
    }
  }
  return false;
}

} // namespace winnow::evaluators::cpu
