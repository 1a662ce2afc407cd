#pragma once

#include <string_view>

namespace winnow::evaluators {

/// The functions that -fsanitize=thread calls, and the compilers' copies. A check module is linked
/// with --wrap for each name, so it imports `__wrap_NAME`, which the runtime defines. A sanitizer
/// build of Winnow keeps its own functions. The names in the first list lack their final size.
inline constexpr std::string_view kTsanSizedAccesses[] = {
    "__tsan_read",
    "__tsan_write",
    "__tsan_read_write",
    "__tsan_unaligned_read",
    "__tsan_unaligned_write",
    "__tsan_unaligned_read_write",
    "__tsan_volatile_read",
    "__tsan_volatile_write",
    "__tsan_unaligned_volatile_read",
    "__tsan_unaligned_volatile_write",
};
inline constexpr int kTsanAccessBytes[] = {1, 2, 4, 8, 16};

/// For example, `__tsan_atomic8_load` is "__tsan_atomic" + bits + "_load".
inline constexpr std::string_view kTsanAtomicOperations[] = {
    "load",
    "store",
    "exchange",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
    "fetch_nand",
    "compare_exchange_strong",
    "compare_exchange_weak",
    "compare_exchange_val",
};
inline constexpr int kTsanAtomicBits[] = {8, 16, 32, 64, 128};

inline constexpr std::string_view kTsanOthers[] = {
    "__tsan_init",
    "__tsan_func_entry",
    "__tsan_func_exit",
    "__tsan_vptr_update",
    "__tsan_vptr_read",
    "__tsan_read_range",
    "__tsan_write_range",
    "__tsan_atomic_thread_fence",
    "__tsan_atomic_signal_fence",
    "__tsan_memcpy",
    "__tsan_memmove",
    "__tsan_memset",
    "memcpy",
    "memmove",
    "memset",
    // Library functions that read or write through a pointer.
    "memcmp",
    "frexp",
    "frexpf",
    "modf",
    "modff",
    "remquo",
    "remquof",
    "sincos",
    "sincosf",
};

} // namespace winnow::evaluators
