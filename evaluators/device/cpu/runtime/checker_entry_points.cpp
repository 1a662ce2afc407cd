// The functions that -fsanitize=thread calls in check modules. Check modules are linked with
// --wrap, so these names never clash with a real libtsan. Each function is called before the access
// happens.
#include "evaluators/device/cpu/runtime/access_counter.h"
#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/checker.h"
#include "evaluators/device/cpu/runtime/entry_points.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include <math.h> // sincos

namespace winnow::evaluators::cpu {
namespace {

using Access = Checker::Access;
using Kind = AccessCounter::Kind;

void check(const volatile void* address, std::size_t bytes, Access access) {
  BlockScheduler* scheduler = BlockScheduler::current();
  if (scheduler != nullptr && scheduler->launch()->checker != nullptr) {
    scheduler->launch()->checker->access(*scheduler, const_cast<const void*>(address), bytes,
                                         access);
  }
}

/// `site`: the address in the module from which it calls.
void count(const void* site, const volatile void* address, std::size_t bytes, Kind kind) {
  BlockScheduler* scheduler = BlockScheduler::current();
  if (scheduler != nullptr && scheduler->launch()->accesses != nullptr) {
    scheduler->launch()->accesses->access(*scheduler, site, const_cast<const void*>(address), bytes,
                                          kind);
  }
}

void read(const void* site, const void* address, std::size_t bytes) {
  check(address, bytes, Access::Read);
  count(site, address, bytes, Kind::Read);
}

void write(const void* site, const void* address, std::size_t bytes) {
  check(address, bytes, Access::Write);
  count(site, address, bytes, Kind::Write);
}

/// A read and a write by one thread, without a barrier in between. Every race of the read is also a
/// race of the write.
void read_and_write(const void* site, const void* address, std::size_t bytes) {
  check(address, bytes, Access::Write);
  count(site, address, bytes, Kind::Read);
  count(site, address, bytes, Kind::Write);
}

/// GPUs do not add the bytes of atomic loads and stores to the traffic of plain ones.
void update(const volatile void* address, std::size_t bytes, Access access) {
  check(address, bytes, access);
  count(nullptr, address, bytes, Kind::Atomic);
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

namespace cpu = winnow::evaluators::cpu;
using CheckedAccess = cpu::Checker::Access;

#define WINNOW_SITE __builtin_return_address(0)
#define WINNOW_PLAIN(name, bytes, note)                                                            \
  void __wrap___tsan_##name##bytes(void* address) {                                                \
    note(WINNOW_SITE, address, bytes);                                                             \
  }
#define WINNOW_PLAIN_SIZES(name, note)                                                             \
  WINNOW_PLAIN(name, 1, note)                                                                      \
  WINNOW_PLAIN(name, 2, note)                                                                      \
  WINNOW_PLAIN(name, 4, note)                                                                      \
  WINNOW_PLAIN(name, 8, note)                                                                      \
  WINNOW_PLAIN(name, 16, note)

// The memory order may be stronger than requested. Device code does not notice.
#define WINNOW_FETCH(bits, type, name)                                                             \
  type __wrap___tsan_atomic##bits##_fetch_##name(volatile type* address, type value, int) {        \
    cpu::update(address, sizeof(type), CheckedAccess::AtomicWrite);                                \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST);                                \
  }
#define WINNOW_EXCHANGE(bits, type)                                                                \
  static bool exchange_if_##bits(volatile type* address, type* expected, type value) {             \
    cpu::update(address, sizeof(type), CheckedAccess::AtomicWrite);                                \
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
    cpu::check(address, sizeof(type), CheckedAccess::AtomicRead);                                  \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                \
  void __wrap___tsan_atomic##bits##_store(volatile type* address, type value, int) {               \
    cpu::check(address, sizeof(type), CheckedAccess::AtomicStore);                                 \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  type __wrap___tsan_atomic##bits##_exchange(volatile type* address, type value, int) {            \
    cpu::update(address, sizeof(type), CheckedAccess::AtomicStore);                                \
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

WINNOW_PLAIN_SIZES(read, cpu::read)
WINNOW_PLAIN_SIZES(write, cpu::write)
WINNOW_PLAIN_SIZES(read_write, cpu::read_and_write)
WINNOW_PLAIN_SIZES(unaligned_read, cpu::read)
WINNOW_PLAIN_SIZES(unaligned_write, cpu::write)
WINNOW_PLAIN_SIZES(unaligned_read_write, cpu::read_and_write)
WINNOW_PLAIN_SIZES(volatile_read, cpu::read)
WINNOW_PLAIN_SIZES(volatile_write, cpu::write)
WINNOW_PLAIN_SIZES(unaligned_volatile_read, cpu::read)
WINNOW_PLAIN_SIZES(unaligned_volatile_write, cpu::write)

WINNOW_ATOMIC(8, std::uint8_t)
WINNOW_ATOMIC(16, std::uint16_t)
WINNOW_ATOMIC(32, std::uint32_t)
WINNOW_ATOMIC(64, std::uint64_t)

void __wrap___tsan_init() {}
void __wrap___tsan_func_entry(void*) {}
void __wrap___tsan_func_exit() {}
void __wrap___tsan_vptr_update(void** address, void*) {
  cpu::check(address, sizeof(*address), CheckedAccess::Write);
}
void __wrap___tsan_vptr_read(void** address) {
  cpu::check(address, sizeof(*address), CheckedAccess::Read);
}
void __wrap___tsan_read_range(void* address, std::size_t bytes) {
  cpu::read(WINNOW_SITE, address, bytes);
}
void __wrap___tsan_write_range(void* address, std::size_t bytes) {
  cpu::write(WINNOW_SITE, address, bytes);
}
void __wrap___tsan_atomic_thread_fence(int) {
  cpu::note_fence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __wrap___tsan_atomic_signal_fence(int) {}

#define WINNOW_COPY(name, function)                                                                \
  void* __wrap_##name(void* to, const void* from, std::size_t bytes) {                             \
    cpu::read(WINNOW_SITE, from, bytes);                                                           \
    cpu::write(WINNOW_SITE, to, bytes);                                                            \
    return std::function(to, from, bytes);                                                         \
  }
#define WINNOW_SET(name)                                                                           \
  void* __wrap_##name(void* to, int value, std::size_t bytes) {                                    \
    cpu::write(WINNOW_SITE, to, bytes);                                                            \
    return std::memset(to, value, bytes);                                                          \
  }

WINNOW_COPY(memcpy, memcpy)
WINNOW_COPY(memmove, memmove)
WINNOW_SET(memset)
WINNOW_COPY(__tsan_memcpy, memcpy)
WINNOW_COPY(__tsan_memmove, memmove)
WINNOW_SET(__tsan_memset)

int __wrap_memcmp(const void* a, const void* b, std::size_t bytes) {
  cpu::read(WINNOW_SITE, a, bytes);
  cpu::read(WINNOW_SITE, b, bytes);
  return std::memcmp(a, b, bytes);
}

#define WINNOW_SPLIT(name, type, result)                                                           \
  type __wrap_##name(type x, result* out) {                                                        \
    cpu::write(WINNOW_SITE, out, sizeof(*out));                                                    \
    return ::name(x, out);                                                                         \
  }
#define WINNOW_REMQUO(name, type)                                                                  \
  type __wrap_##name(type x, type y, int* out) {                                                   \
    cpu::write(WINNOW_SITE, out, sizeof(*out));                                                    \
    return ::name(x, y, out);                                                                      \
  }
#define WINNOW_SINCOS(name, type)                                                                  \
  void __wrap_##name(type x, type* sine, type* cosine) {                                           \
    cpu::write(WINNOW_SITE, sine, sizeof(*sine));                                                  \
    cpu::write(WINNOW_SITE, cosine, sizeof(*cosine));                                              \
    ::name(x, sine, cosine);                                                                       \
  }

WINNOW_SPLIT(frexp, double, int)
WINNOW_SPLIT(frexpf, float, int)
WINNOW_SPLIT(modf, double, double)
WINNOW_SPLIT(modff, float, float)
WINNOW_REMQUO(remquo, double)
WINNOW_REMQUO(remquof, float)
WINNOW_SINCOS(sincos, double)
WINNOW_SINCOS(sincosf, float)
}
