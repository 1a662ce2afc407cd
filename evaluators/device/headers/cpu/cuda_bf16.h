#pragma once
#include "winnow_cpu.h"
#include "winnow_float16.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

#define WINNOW_F16 __nv_bfloat16
#define WINNOW_F16X2 __nv_bfloat162
#define WINNOW_N bfloat16
#define WINNOW_N2 bfloat162
#define WINNOW_TO_FLOAT winnow_bfloat16_to_float
#define WINNOW_FROM_FLOAT winnow_float_to_bfloat16
#include "winnow_float16_type.inc"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
