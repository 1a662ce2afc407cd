#pragma once
#include "winnow_cpu.h"
#include "winnow_float16.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

#define WINNOW_F16 __half
#define WINNOW_F16X2 __half2
#define WINNOW_N half
#define WINNOW_N2 half2
#define WINNOW_TO_FLOAT winnow_half_to_float
#define WINNOW_FROM_FLOAT winnow_float_to_half
#include "winnow_float16_type.inc"

using half = __half;
using half2 = __half2;
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
