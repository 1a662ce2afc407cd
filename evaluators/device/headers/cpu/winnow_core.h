// The core of CUDA C++ for a CPU module: no standard header, clang++ >= 14 or g++ >= 11, C++17.
//
// How a module is made of it (evaluators/device/cpu/compile):
//   #include "winnow_core.h"       // first; includes "abi.h", which lies beside it
//   ... the candidate's code, after the source pass ...
//   extern "C" const WinnowKernel winnow_kernels[] = {
//       WINNOW_KERNEL("scale<4>", scale<4>),
//       WINNOW_KERNEL("ns::copy", ns::copy),
//   };
//   WINNOW_MODULE                  // once: winnow_kernel_count, winnow_abi_version, winnow_where
//
// Check builds define WINNOW_CHECK. Each `__shared__` is a static thread_local, which the runtime
// finds in .symtab (so don't strip); dynamic shared memory is winnow_dynamic_shared(). Types that
// are shared must be trivially constructible. Compile with -fno-strict-aliasing (device code puns
// types freely) and -fvisibility=hidden; g++ also needs -O3 and -fno-gnu-unique.
//
// For other device headers: winnow_lane(), winnow_exchange(), winnow_shuffle(), winnow_block_sync()
// and winnow_grid_sync() keep the coordinates right across a fiber switch; never call the blocking
// entry points of abi.h directly.
#pragma once

#include "abi.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __noinline__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define WINNOW_CONCAT_(a, b) a##b
#define WINNOW_CONCAT(a, b) WINNOW_CONCAT_(a, b)
#ifdef WINNOW_CHECK
// A gap before each array, so that running over one array's end does not hit the next. No code
// refers to it, so check modules are linked without --gc-sections. Declarations only: `__shared__`
// also stands at file scope.
#define WINNOW_SHARED_(gap)                                                                        \
  static thread_local char gap[64] __attribute__((used, aligned(64)));                             \
  static thread_local
#define __shared__ WINNOW_SHARED_(WINNOW_CONCAT(winnow_redzone_, __COUNTER__))
#else
#define __shared__ static thread_local
#endif

#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)

// ---- Coordinates ----

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Touched member by member only, and its address never leaves the module: so the compiler knows
// that no store through a candidate's pointer changes it, and can vectorise the thread loop.
#ifdef WINNOW_CHECK
__attribute__((used)) // kept whole, apart from the shared arrays
#endif
static thread_local WinnowCoordinates winnow_here;

#define WINNOW_COORDINATE(type, name, member)                                                      \
  static __forceinline__ type name() {                                                             \
    return {winnow_here.member.x, winnow_here.member.y, winnow_here.member.z};                     \
  }
WINNOW_COORDINATE(uint3, winnow_thread_index, thread)
WINNOW_COORDINATE(uint3, winnow_block_index, block)
WINNOW_COORDINATE(dim3, winnow_block_dim, block_dim)
WINNOW_COORDINATE(dim3, winnow_grid_dim, grid_dim)
#undef WINNOW_COORDINATE
#define threadIdx (winnow_thread_index())
#define blockIdx (winnow_block_index())
#define blockDim (winnow_block_dim())
#define gridDim (winnow_grid_dim())
#define warpSize 32

static __forceinline__ unsigned winnow_thread_rank() {
  const WinnowCoordinates& at = winnow_here;
  return (at.thread.z * at.block_dim.y + at.thread.y) * at.block_dim.x + at.thread.x;
}
static __forceinline__ unsigned winnow_lane() { return winnow_thread_rank() & 31u; }

// ---- How the runtime calls kernels ----

template <int... I> struct WinnowIndices {};
template <int N, int... I> struct WinnowMakeIndices : WinnowMakeIndices<N - 1, N - 1, I...> {};
template <int... I> struct WinnowMakeIndices<0, I...> { using Type = WinnowIndices<I...>; };

static __forceinline__ void winnow_set_block(const WinnowCoordinates* at) {
  winnow_here.block.x = at->block.x;
  winnow_here.block.y = at->block.y;
  winnow_here.block.z = at->block.z;
  winnow_here.block_dim.x = at->block_dim.x;
  winnow_here.block_dim.y = at->block_dim.y;
  winnow_here.block_dim.z = at->block_dim.z;
  winnow_here.grid_dim.x = at->grid_dim.x;
  winnow_here.grid_dim.y = at->grid_dim.y;
  winnow_here.grid_dim.z = at->grid_dim.z;
}

static __forceinline__ void winnow_set_thread(unsigned x, unsigned y, unsigned z) {
  winnow_here.thread.x = x;
  winnow_here.thread.y = y;
  winnow_here.thread.z = z;
}

template <auto Kernel, class Function = decltype(Kernel)> struct WinnowRun;
template <auto Kernel, class... P> struct WinnowRun<Kernel, void (*)(P...)> {
  template <int... I> static __forceinline__ void one(void* const* arguments, WinnowIndices<I...>) {
    Kernel(*static_cast<P*>(arguments[I])...);
  }
  // Arguments by value: nothing the kernel writes can change them.
  static __forceinline__ void loop(unsigned nx, unsigned ny, unsigned nz, P... arguments) {
    for (unsigned z = 0; z < nz; ++z) {
      for (unsigned y = 0; y < ny; ++y) {
        for (unsigned x = 0; x < nx; ++x) {
          winnow_set_thread(x, y, z);
          Kernel(arguments...);
        }
      }
    }
  }
  template <int... I>
  static __forceinline__ void all(void* const* arguments, const WinnowCoordinates* at,
                                  WinnowIndices<I...>) {
    loop(at->block_dim.x, at->block_dim.y, at->block_dim.z, *static_cast<P*>(arguments[I])...);
  }
  static void thread(void* const* arguments, const WinnowCoordinates* at) {
    winnow_set_block(at);
    winnow_set_thread(at->thread.x, at->thread.y, at->thread.z);
    one(arguments, typename WinnowMakeIndices<sizeof...(P)>::Type{});
  }
  static void block(void* const* arguments, const WinnowCoordinates* at) {
    winnow_set_block(at);
    all(arguments, at, typename WinnowMakeIndices<sizeof...(P)>::Type{});
  }
};

#define WINNOW_KERNEL(text, ...)                                                                   \
  { text, &WinnowRun<&__VA_ARGS__>::thread, &WinnowRun<&__VA_ARGS__>::block }

#ifdef WINNOW_CHECK
#define WINNOW_LAST_REDZONE                                                                        \
  static thread_local char winnow_redzone_last[4096] __attribute__((used, aligned(64)));
#else
#define WINNOW_LAST_REDZONE
#endif

#define WINNOW_MODULE                                                                              \
  WINNOW_LAST_REDZONE                                                                              \
  extern "C" {                                                                                     \
  extern const unsigned winnow_kernel_count = sizeof(winnow_kernels) / sizeof(WinnowKernel);       \
  extern const unsigned winnow_abi_version = WINNOW_CPU_ABI_VERSION;                               \
  void winnow_where(WinnowCoordinates* at) {                                                       \
    at->thread.x = winnow_here.thread.x;                                                           \
    at->thread.y = winnow_here.thread.y;                                                           \
    at->thread.z = winnow_here.thread.z;                                                           \
    at->block.x = winnow_here.block.x;                                                             \
    at->block.y = winnow_here.block.y;                                                             \
    at->block.z = winnow_here.block.z;                                                             \
  }                                                                                                \
  }

// ---- Blocking operations ----

// Puts this thread's coordinates back after other threads have run.
struct WinnowKeepThread {
  unsigned x = winnow_here.thread.x, y = winnow_here.thread.y, z = winnow_here.thread.z;
  __forceinline__ ~WinnowKeepThread() { winnow_set_thread(x, y, z); }
};

static inline int winnow_block_sync(int kind, int predicate, const char* op, int line) {
  const WinnowKeepThread keep;
  return winnow_barrier(kind, predicate, op, line);
}
static inline void winnow_grid_sync(int line) {
  const WinnowKeepThread keep;
  winnow_grid_barrier(line);
}
static inline const WinnowGather* winnow_exchange(unsigned mask, unsigned long long value,
                                                  int op_id, const char* op, int line) {
  const WinnowKeepThread keep;
  return winnow_gather(mask, value, op_id, op, line);
}

static inline void __syncthreads(int line = __builtin_LINE()) {
  winnow_block_sync(WinnowBarrierPlain, 0, "__syncthreads", line);
}
static inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
  return winnow_block_sync(WinnowBarrierCount, predicate, "__syncthreads_count", line);
}
static inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
  return winnow_block_sync(WinnowBarrierAnd, predicate, "__syncthreads_and", line);
}
static inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
  return winnow_block_sync(WinnowBarrierOr, predicate, "__syncthreads_or", line);
}
static inline unsigned __activemask(int line = __builtin_LINE()) {
  const WinnowKeepThread keep;
  return winnow_active_mask("__activemask", line);
}
static inline void __nanosleep(unsigned, int line = __builtin_LINE()) {
  const WinnowKeepThread keep;
  winnow_yield(line);
}

// Lanes that meet must have come for the same of these.
enum WinnowOp {
  WinnowOpSyncWarp = 1,
  WinnowOpShuffle,
  WinnowOpShuffleUp,
  WinnowOpShuffleDown,
  WinnowOpShuffleXor,
  WinnowOpBallot,
  WinnowOpAny,
  WinnowOpAll,
  WinnowOpMatchAny,
  WinnowOpMatchAll,
  WinnowOpReduceAdd,
  WinnowOpReduceMin,
  WinnowOpReduceMax,
  WinnowOpReduceAnd,
  WinnowOpReduceOr,
  WinnowOpReduceXor,
  WinnowOpFirstFree = 64 // device headers number their own from here
};

static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  winnow_exchange(mask, 0, WinnowOpSyncWarp, "__syncwarp", line);
}

// The value of `value` on lane `source`, or this lane's own when that lane takes no part. Any
// trivially copyable type; more than 8 bytes go in several rounds.
template <class T>
static inline T winnow_shuffle(unsigned mask, T value, unsigned source, int op_id, const char* op,
                               int line) {
  T result = value;
  for (unsigned at = 0; at < sizeof(T); at += 8) {
    const unsigned bytes = sizeof(T) - at < 8 ? unsigned(sizeof(T)) - at : 8;
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, reinterpret_cast<const char*>(&value) + at, bytes);
    const WinnowGather* all = winnow_exchange(mask, bits, op_id, op, line);
    if (source < 32 && (all->lanes >> source & 1u) != 0) {
      __builtin_memcpy(reinterpret_cast<char*>(&result) + at, &all->values[source], bytes);
    }
  }
  return result;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32,
                            int line = __builtin_LINE()) {
  const unsigned segment = winnow_lane() & ~unsigned(width - 1);
  return winnow_shuffle(mask, value, segment | (unsigned(source) & unsigned(width - 1)),
                        WinnowOpShuffle, "__shfl_sync", line);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                               int line = __builtin_LINE()) {
  const unsigned lane = winnow_lane();
  const bool inside = (lane & unsigned(width - 1)) >= delta;
  return winnow_shuffle(mask, value, inside ? lane - delta : lane, WinnowOpShuffleUp,
                        "__shfl_up_sync", line);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                                 int line = __builtin_LINE()) {
  const unsigned lane = winnow_lane();
  const bool inside = (lane & unsigned(width - 1)) + (unsigned long long)delta < unsigned(width);
  return winnow_shuffle(mask, value, inside ? lane + delta : lane, WinnowOpShuffleDown,
                        "__shfl_down_sync", line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                                int line = __builtin_LINE()) {
  const unsigned lane = winnow_lane();
  const unsigned source = lane ^ unsigned(lane_mask);
  const bool inside = source <= (lane | unsigned(width - 1));
  return winnow_shuffle(mask, value, inside ? source : lane, WinnowOpShuffleXor, "__shfl_xor_sync",
                        line);
}

static inline unsigned winnow_vote(unsigned mask, bool predicate, int op_id, const char* op,
                                   int line, unsigned* lanes) {
  const WinnowGather* all = winnow_exchange(mask, predicate, op_id, op, line);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    votes |= (all->lanes >> lane & unsigned(all->values[lane] & 1)) << lane;
  }
  *lanes = all->lanes;
  return votes;
}
static inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  unsigned lanes;
  return winnow_vote(mask, predicate != 0, WinnowOpBallot, "__ballot_sync", line, &lanes);
}
static inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  unsigned lanes;
  return winnow_vote(mask, predicate != 0, WinnowOpAny, "__any_sync", line, &lanes) != 0;
}
static inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  unsigned lanes;
  return winnow_vote(mask, predicate != 0, WinnowOpAll, "__all_sync", line, &lanes) == lanes;
}

template <class T> static inline unsigned long long winnow_bits(T value) {
  static_assert(sizeof(T) <= 8, "warp match takes 4- or 8-byte values");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
static inline unsigned winnow_match(const WinnowGather* all, unsigned long long bits) {
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    same |= unsigned((all->lanes >> lane & 1u) != 0 && all->values[lane] == bits) << lane;
  }
  return same;
}
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value, int line = __builtin_LINE()) {
  const unsigned long long bits = winnow_bits(value);
  return winnow_match(winnow_exchange(mask, bits, WinnowOpMatchAny, "__match_any_sync", line),
                      bits);
}
template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int* predicate,
                                        int line = __builtin_LINE()) {
  const unsigned long long bits = winnow_bits(value);
  const WinnowGather* all = winnow_exchange(mask, bits, WinnowOpMatchAll, "__match_all_sync", line);
  *predicate = winnow_match(all, bits) == all->lanes;
  return *predicate ? all->lanes : 0;
}

#define WINNOW_REDUCE(type, name, op_id, expression)                                               \
  static inline type name(unsigned mask, type value, int line = __builtin_LINE()) {                \
    const WinnowGather* all = winnow_exchange(mask, winnow_bits(value), op_id, #name, line);       \
    bool first = true;                                                                             \
    type a = value;                                                                                \
    for (unsigned lane = 0; lane < 32; ++lane) {                                                   \
      if ((all->lanes >> lane & 1u) != 0) {                                                        \
        const type b = type(all->values[lane]);                                                    \
        a = first ? b : type(expression);                                                          \
        first = false;                                                                             \
      }                                                                                            \
    }                                                                                              \
    return a;                                                                                      \
  }
WINNOW_REDUCE(unsigned, __reduce_add_sync, WinnowOpReduceAdd, a + b)
WINNOW_REDUCE(int, __reduce_add_sync, WinnowOpReduceAdd, unsigned(a) + unsigned(b))
WINNOW_REDUCE(unsigned, __reduce_min_sync, WinnowOpReduceMin, a < b ? a : b)
WINNOW_REDUCE(int, __reduce_min_sync, WinnowOpReduceMin, a < b ? a : b)
WINNOW_REDUCE(unsigned, __reduce_max_sync, WinnowOpReduceMax, a > b ? a : b)
WINNOW_REDUCE(int, __reduce_max_sync, WinnowOpReduceMax, a > b ? a : b)
WINNOW_REDUCE(unsigned, __reduce_and_sync, WinnowOpReduceAnd, a& b)
WINNOW_REDUCE(unsigned, __reduce_or_sync, WinnowOpReduceOr, a | b)
WINNOW_REDUCE(unsigned, __reduce_xor_sync, WinnowOpReduceXor, a ^ b)
#undef WINNOW_REDUCE

// ---- Memory ----

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#define WINNOW_LOAD(name)                                                                          \
  template <class T> static __forceinline__ T name(const T* address) { return *address; }
WINNOW_LOAD(__ldg)
WINNOW_LOAD(__ldca)
WINNOW_LOAD(__ldcg)
WINNOW_LOAD(__ldcs)
WINNOW_LOAD(__ldlu)
#undef WINNOW_LOAD
template <class T> static __forceinline__ T __ldcv(const T* address) {
  return *const_cast<const volatile T*>(address);
}

template <class T> struct WinnowSame {
  using Type = T; // a parameter of this type takes no part in deduction
};
template <class T> using WinnowValue = typename WinnowSame<T>::Type;

#define WINNOW_STORE(name)                                                                         \
  template <class T> static __forceinline__ void name(T* address, WinnowValue<T> value) {          \
    *address = value;                                                                              \
  }
WINNOW_STORE(__stwb)
WINNOW_STORE(__stcg)
WINNOW_STORE(__stcs)
WINNOW_STORE(__stwt)
#undef WINNOW_STORE

// ---- Atomics: any trivially copyable type of 1, 2, 4 or 8 bytes with the operator in question.
// Device headers add overloads for types without (float2). ----

template <int Bytes> struct WinnowWord;
template <> struct WinnowWord<1> { using Type = unsigned char; };
template <> struct WinnowWord<2> { using Type = unsigned short; };
template <> struct WinnowWord<4> { using Type = unsigned; };
template <> struct WinnowWord<8> { using Type = unsigned long long; };

// Replaces *address by change(*address) in one step; returns what was there.
template <class T, class Change> static inline T winnow_update(T* address, Change change) {
  using Word = typename WinnowWord<sizeof(T)>::Type;
  Word* word = reinterpret_cast<Word*>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T old;
    __builtin_memcpy(&old, &seen, sizeof(T));
    const T wanted = change(old);
    Word next;
    __builtin_memcpy(&next, &wanted, sizeof(T));
    if (__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      return old;
    }
  }
}

template <class T> struct WinnowIsInteger { static constexpr bool value = false; };
#define WINNOW_INTEGER(...)                                                                        \
  template <> struct WinnowIsInteger<__VA_ARGS__> { static constexpr bool value = true; };
WINNOW_INTEGER(int)
WINNOW_INTEGER(unsigned)
WINNOW_INTEGER(long)
WINNOW_INTEGER(unsigned long)
WINNOW_INTEGER(long long)
WINNOW_INTEGER(unsigned long long)
#undef WINNOW_INTEGER

template <class T> static inline T winnow_atomic_add(T* address, T value) {
  if constexpr (WinnowIsInteger<T>::value) {
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
  } else {
    return winnow_update(address, [value](T old) { return T(old + value); });
  }
}
template <class T> static inline T winnow_atomic_sub(T* address, T value) {
  if constexpr (WinnowIsInteger<T>::value) {
    return __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);
  } else {
    return winnow_update(address, [value](T old) { return T(old - value); });
  }
}
template <class T> static inline T winnow_atomic_exch(T* address, T value) {
  using Word = typename WinnowWord<sizeof(T)>::Type;
  Word next;
  __builtin_memcpy(&next, &value, sizeof(T));
  const Word seen = __atomic_exchange_n(reinterpret_cast<Word*>(address), next, __ATOMIC_SEQ_CST);
  T old;
  __builtin_memcpy(&old, &seen, sizeof(T));
  return old;
}
template <class T> static inline T winnow_atomic_min(T* address, T value) {
  return winnow_update(address, [value](T old) { return value < old ? value : old; });
}
template <class T> static inline T winnow_atomic_max(T* address, T value) {
  return winnow_update(address, [value](T old) { return old < value ? value : old; });
}
template <class T> static inline T winnow_atomic_and(T* address, T value) {
  return __atomic_fetch_and(address, value, __ATOMIC_SEQ_CST);
}
template <class T> static inline T winnow_atomic_or(T* address, T value) {
  return __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST);
}
template <class T> static inline T winnow_atomic_xor(T* address, T value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_SEQ_CST);
}
static inline unsigned winnow_atomic_inc(unsigned* address, unsigned limit) {
  return winnow_update(address, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
static inline unsigned winnow_atomic_dec(unsigned* address, unsigned limit) {
  return winnow_update(address,
                       [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
template <class T> static inline T winnow_atomic_cas(T* address, T compare, T value) {
  using Word = typename WinnowWord<sizeof(T)>::Type;
  Word expected, next;
  __builtin_memcpy(&expected, &compare, sizeof(T));
  __builtin_memcpy(&next, &value, sizeof(T));
  __atomic_compare_exchange_n(reinterpret_cast<Word*>(address), &expected, next, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  T old;
  __builtin_memcpy(&old, &expected, sizeof(T));
  return old;
}

// atomicAdd, atomicAdd_block, atomicAdd_system, ...
#define WINNOW_ATOMIC_(name, function)                                                             \
  template <class T> static inline T name(T* address, WinnowValue<T> value) {                      \
    return function(address, value);                                                               \
  }
#define WINNOW_ATOMIC(name, function)                                                              \
  WINNOW_ATOMIC_(name, function)                                                                   \
  WINNOW_ATOMIC_(name##_block, function)                                                           \
  WINNOW_ATOMIC_(name##_system, function)
WINNOW_ATOMIC(atomicAdd, winnow_atomic_add)
WINNOW_ATOMIC(atomicSub, winnow_atomic_sub)
WINNOW_ATOMIC(atomicExch, winnow_atomic_exch)
WINNOW_ATOMIC(atomicMin, winnow_atomic_min)
WINNOW_ATOMIC(atomicMax, winnow_atomic_max)
WINNOW_ATOMIC(atomicAnd, winnow_atomic_and)
WINNOW_ATOMIC(atomicOr, winnow_atomic_or)
WINNOW_ATOMIC(atomicXor, winnow_atomic_xor)
WINNOW_ATOMIC(atomicInc, winnow_atomic_inc)
WINNOW_ATOMIC(atomicDec, winnow_atomic_dec)
#undef WINNOW_ATOMIC
#undef WINNOW_ATOMIC_
#define WINNOW_ATOMIC_CAS(name)                                                                    \
  template <class T>                                                                               \
  static inline T name(T* address, WinnowValue<T> compare, WinnowValue<T> value) {                 \
    return winnow_atomic_cas(address, compare, value);                                             \
  }
WINNOW_ATOMIC_CAS(atomicCAS)
WINNOW_ATOMIC_CAS(atomicCAS_block)
WINNOW_ATOMIC_CAS(atomicCAS_system)
#undef WINNOW_ATOMIC_CAS

// ---- The rest ----

#define printf winnow_printf
#define assert(condition)                                                                          \
  ((condition) ? (void)0                                                                           \
               : winnow_trap("assertion failed: " #condition, __builtin_FILE(), __builtin_LINE()))
[[noreturn]] static inline void __trap(const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) {
  winnow_trap("__trap", file, line);
}
static inline long long clock64() { return (long long)winnow_clock(); }
static inline int clock() { return int(winnow_clock()); }
static inline unsigned long long __globaltimer() { return winnow_clock(); }
