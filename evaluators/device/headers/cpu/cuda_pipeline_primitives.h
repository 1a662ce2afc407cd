// cp.async as plain copies: what was committed has always arrived.
#pragma once
#include "winnow_cpu.h"

inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  const size_t copied = zeros < bytes ? bytes - zeros : 0;
  __builtin_memcpy(to, from, copied);
  __builtin_memset(static_cast<char*>(to) + copied, 0, bytes - copied);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
