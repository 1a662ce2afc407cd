// hiprtc's own half is not CUDA's (in ROCm 5.2 `__half2::x` is an integer, so that a kernel that
// uses it computes nonsense): CUDA's names are macros for another type. `__half` comes first in its
// name, since winnow_entry.h tells floating types by their names.
#pragma once
#include "winnow_hip.h"
#include "winnow_float16.h"

#pragma clang force_cuda_host_device begin

struct __half_winnow_raw {
  unsigned short x;
};
struct __half2_winnow_raw {
  unsigned short x, y;
};

inline unsigned short winnow_half_fma(unsigned short a, unsigned short b, unsigned short c) {
  return __builtin_bit_cast(unsigned short, __builtin_fmaf16(__builtin_bit_cast(_Float16, a),
                                                             __builtin_bit_cast(_Float16, b),
                                                             __builtin_bit_cast(_Float16, c)));
}

#define WINNOW_F16 __half_winnow
#define WINNOW_F16X2 __half2_winnow
#define WINNOW_N half
#define WINNOW_N2 half2
#define WINNOW_TO_FLOAT winnow_half_to_float
#define WINNOW_FROM_FLOAT winnow_float_to_half
#define WINNOW_F16_FMA winnow_half_fma
#include "winnow_float16_type.inc"

#pragma clang force_cuda_host_device end

// Not before: names of functions are put together from these.
#define __half __half_winnow
#define __half2 __half2_winnow
#define __half_raw __half_winnow_raw
#define __half2_raw __half2_winnow_raw
#define half __half_winnow
#define half2 __half2_winnow
using nv_half = __half;
using nv_half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
