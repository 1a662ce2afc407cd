// What CUDA's device functions have and HIP's lack.
#pragma once
#include "winnow_hip.h"

template <class T> inline T winnow_load(const T* at) { return *at; }
template <class T> inline void winnow_store(T* at, T value) { *at = value; }
// Cache hints are hints.
#define __ldg winnow_load
#define __ldca winnow_load
#define __ldcg winnow_load
#define __ldcs winnow_load
#define __ldlu winnow_load
#define __ldcv winnow_load
#define __stwb winnow_store
#define __stcg winnow_store
#define __stcs winnow_store
#define __stwt winnow_store

template <class A, class B, class C> inline C winnow_dot4(unsigned a, unsigned b, C c) {
  for (int i = 0; i < 4; ++i) {
    c = C(unsigned(c) + unsigned(int(A(a >> (8 * i))) * int(B(b >> (8 * i)))));
  }
  return c;
}
inline int winnow_dp4a(int a, int b, int c) {
  return winnow_dot4<signed char, signed char>(unsigned(a), unsigned(b), c);
}
inline unsigned winnow_dp4a(unsigned a, unsigned b, unsigned c) {
  return winnow_dot4<unsigned char, unsigned char>(a, b, c);
}
#define __dp4a winnow_dp4a

// Position of the set bit number `offset` counted from `base`, upwards; ~0 when there is none.
inline unsigned winnow_find_set_bit(unsigned long long mask, unsigned base, int offset) {
  for (unsigned bit = base; bit < 64; ++bit) {
    if ((mask >> bit & 1u) != 0 && --offset == 0) {
      return bit;
    }
  }
  return 0xffffffffu;
}
#define __fns winnow_find_set_bit

// A GPU of NVIDIA clamps what does not fit and turns NaN into 0; so does this.
template <class T> inline T winnow_to_integer(double x) {
  constexpr bool is_signed = T(-1) < T(0);
  constexpr int bits = 8 * int(sizeof(T)) - (is_signed ? 1 : 0);
  constexpr double end = double(1ULL << (bits - 1)) * 2.0;
  constexpr T low = is_signed ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
  if (!(x == x)) {
    return T(0);
  }
  return x >= end ? T(~low) : x < double(low) ? low : T(x);
}

inline void winnow_nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
#define __nanosleep winnow_nanosleep
#define __trap __builtin_trap
#define __brkpt __builtin_trap

// Launches run one after another, so programmatic dependent launch has nothing to wait for.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
