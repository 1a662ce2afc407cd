#pragma once
#include "std_types.h"
#if defined(WINNOW_CPU_DEVICE)
extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept;
void* memmove(void* to, const void* from, size_t bytes) noexcept;
void* memset(void* to, int byte, size_t bytes) noexcept;
int memcmp(const void* a, const void* b, size_t bytes) noexcept;
}
#endif
namespace std {
using ::memcpy;
using ::memset;
#if defined(WINNOW_CPU_DEVICE)
using ::memcmp;
using ::memmove;
#endif
} // namespace std
