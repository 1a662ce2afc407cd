// The -fsanitize=thread instrumentation of check modules, which are linked with --wrap so that
// these names never meet a real libtsan. Called before the access happens.
#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/checker.h"
#include "evaluators/device/cpu/runtime/entry_points.h"

#include <cstdint>
#include <cstring>

namespace winnow::evaluators::cpu {
namespace {

using Access = Checker::Access;

void note(const volatile void* address, std::size_t bytes, Access access) {
  BlockScheduler* scheduler = BlockScheduler::current();
  if (scheduler != nullptr && scheduler->launch()->checker != nullptr) {
    scheduler->launch()->checker->access(*scheduler, const_cast<const void*>(address), bytes,
                                         access);
  }
}

void note_fence() {
  BlockScheduler* scheduler = BlockScheduler::current();
  if (scheduler != nullptr && scheduler->launch()->checker != nullptr) {
    scheduler->launch()->checker->fence();
  }
}

} // namespace

void link_checker_entry_points() {}

} // namespace winnow::evaluators::cpu

using winnow::evaluators::cpu::note;
using winnow::evaluators::cpu::note_fence;
using CheckedAccess = winnow::evaluators::cpu::Checker::Access;

#define WINNOW_PLAIN(name, bytes, ...)                                                             \
  void __wrap___tsan_##name##bytes(void* address) {                                                \
    for (const CheckedAccess access : {__VA_ARGS__}) {                                             \
      note(address, bytes, access);                                                                \
    }                                                                                              \
  }
#define WINNOW_PLAIN_SIZES(name, ...)                                                              \
  WINNOW_PLAIN(name, 1, __VA_ARGS__)                                                               \
  WINNOW_PLAIN(name, 2, __VA_ARGS__)                                                               \
  WINNOW_PLAIN(name, 4, __VA_ARGS__)                                                               \
  WINNOW_PLAIN(name, 8, __VA_ARGS__)                                                               \
  WINNOW_PLAIN(name, 16, __VA_ARGS__)

// Ours may be stronger than asked for; device code has no use for the difference.
#define WINNOW_FETCH(bits, type, name)                                                             \
  type __wrap___tsan_atomic##bits##_fetch_##name(volatile type* address, type value, int) {        \
    note(address, sizeof(type), CheckedAccess::AtomicWrite);                                       \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST);                                \
  }
#define WINNOW_EXCHANGE(bits, type)                                                                \
  static bool exchange_if_##bits(volatile type* address, type* expected, type value) {             \
    note(address, sizeof(type), CheckedAccess::AtomicWrite);                                       \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,          \
                                       __ATOMIC_SEQ_CST);                                          \
  }                                                                                                \
  int __wrap___tsan_atomic##bits##_compare_exchange_strong(volatile type* address, type* expected, \
                                                           type value, int, int) {                 \
    return exchange_if_##bits(address, expected, value);                                           \
  }                                                                                                \
  int __wrap___tsan_atomic##bits##_compare_exchange_weak(volatile type* address, type* expected,   \
                                                         type value, int, int) {                   \
    return exchange_if_##bits(address, expected, value);                                           \
  }                                                                                                \
  type __wrap___tsan_atomic##bits##_compare_exchange_val(volatile type* address, type expected,    \
                                                         type value, int, int) {                   \
    exchange_if_##bits(address, &expected, value);                                                 \
    return expected;                                                                               \
  }
#define WINNOW_ATOMIC(bits, type)                                                                  \
  type __wrap___tsan_atomic##bits##_load(const volatile type* address, int) {                      \
    note(address, sizeof(type), CheckedAccess::AtomicRead);                                        \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                \
  void __wrap___tsan_atomic##bits##_store(volatile type* address, type value, int) {               \
    note(address, sizeof(type), CheckedAccess::AtomicStore);                                       \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  type __wrap___tsan_atomic##bits##_exchange(volatile type* address, type value, int) {            \
    note(address, sizeof(type), CheckedAccess::AtomicStore);                                       \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                                \
  WINNOW_FETCH(bits, type, add)                                                                    \
  WINNOW_FETCH(bits, type, sub)                                                                    \
  WINNOW_FETCH(bits, type, and)                                                                    \
  WINNOW_FETCH(bits, type, or)                                                                     \
  WINNOW_FETCH(bits, type, xor)                                                                    \
  WINNOW_FETCH(bits, type, nand)                                                                   \
  WINNOW_EXCHANGE(bits, type)

extern "C" {

WINNOW_PLAIN_SIZES(read, CheckedAccess::Read)
WINNOW_PLAIN_SIZES(write, CheckedAccess::Write)
WINNOW_PLAIN_SIZES(read_write, CheckedAccess::Read, CheckedAccess::Write)
WINNOW_PLAIN_SIZES(unaligned_read, CheckedAccess::Read)
WINNOW_PLAIN_SIZES(unaligned_write, CheckedAccess::Write)
WINNOW_PLAIN_SIZES(unaligned_read_write, CheckedAccess::Read, CheckedAccess::Write)
WINNOW_PLAIN_SIZES(volatile_read, CheckedAccess::Read)
WINNOW_PLAIN_SIZES(volatile_write, CheckedAccess::Write)
WINNOW_PLAIN_SIZES(unaligned_volatile_read, CheckedAccess::Read)
WINNOW_PLAIN_SIZES(unaligned_volatile_write, CheckedAccess::Write)

WINNOW_ATOMIC(8, std::uint8_t)
WINNOW_ATOMIC(16, std::uint16_t)
WINNOW_ATOMIC(32, std::uint32_t)
WINNOW_ATOMIC(64, std::uint64_t)

void __wrap___tsan_init() {}
void __wrap___tsan_func_entry(void*) {}
void __wrap___tsan_func_exit() {}
void __wrap___tsan_vptr_update(void**, void*) {}
void __wrap___tsan_vptr_read(void**) {}
void __wrap___tsan_read_range(void* address, std::size_t bytes) {
  note(address, bytes, CheckedAccess::Read);
}
void __wrap___tsan_write_range(void* address, std::size_t bytes) {
  note(address, bytes, CheckedAccess::Write);
}
void __wrap___tsan_atomic_thread_fence(int) {
  note_fence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __wrap___tsan_atomic_signal_fence(int) {}

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  note(from, bytes, CheckedAccess::Read);
  note(to, bytes, CheckedAccess::Write);
  return std::memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  note(from, bytes, CheckedAccess::Read);
  note(to, bytes, CheckedAccess::Write);
  return std::memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  note(to, bytes, CheckedAccess::Write);
  return std::memset(to, value, bytes);
}
void* __wrap___tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  return __wrap_memcpy(to, from, bytes);
}
void* __wrap___tsan_memmove(void* to, const void* from, std::size_t bytes) {
  return __wrap_memmove(to, from, bytes);
}
void* __wrap___tsan_memset(void* to, int value, std::size_t bytes) {
  return __wrap_memset(to, value, bytes);
}
}
