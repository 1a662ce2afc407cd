// Bits of half and bfloat16, for winnow_float16_type.inc. hiprtc has functions of its own for both,
// but they differ from CUDA's and from version to version.
#pragma once
#include "winnow_hip.h"

// Functions that only their result would tell from HIP's.
#define __double2half winnow_double2half
#define __float2half winnow_float2half
#define __float2half_rd winnow_float2half_rd
#define __float2half_rn winnow_float2half_rn
#define __float2half_ru winnow_float2half_ru
#define __float2half_rz winnow_float2half_rz
#define __int2half_rn winnow_int2half_rn
#define __uint2half_rn winnow_uint2half_rn
#define __short2half_rn winnow_short2half_rn
#define __ushort2half_rn winnow_ushort2half_rn
#define __ll2half_rn winnow_ll2half_rn
#define __ull2half_rn winnow_ull2half_rn
#define __short_as_half winnow_short_as_half
#define __ushort_as_half winnow_ushort_as_half
#define __float2half2_rn winnow_float2half2_rn
#define __floats2half2_rn winnow_floats2half2_rn
#define __float22half2_rn winnow_float22half2_rn
#define __double2bfloat16 winnow_double2bfloat16
#define __float2bfloat16 winnow_float2bfloat16
#define __float2bfloat16_rd winnow_float2bfloat16_rd
#define __float2bfloat16_rn winnow_float2bfloat16_rn
#define __float2bfloat16_ru winnow_float2bfloat16_ru
#define __float2bfloat16_rz winnow_float2bfloat16_rz
#define __int2bfloat16_rn winnow_int2bfloat16_rn
#define __uint2bfloat16_rn winnow_uint2bfloat16_rn
#define __short2bfloat16_rn winnow_short2bfloat16_rn
#define __ushort2bfloat16_rn winnow_ushort2bfloat16_rn
#define __ll2bfloat16_rn winnow_ll2bfloat16_rn
#define __ull2bfloat16_rn winnow_ull2bfloat16_rn
#define __short_as_bfloat16 winnow_short_as_bfloat16
#define __ushort_as_bfloat16 winnow_ushort_as_bfloat16
#define __float2bfloat162_rn winnow_float2bfloat162_rn
#define __floats2bfloat162_rn winnow_floats2bfloat162_rn
#define __float22bfloat162_rn winnow_float22bfloat162_rn

#pragma clang force_cuda_host_device begin

// Double to float keeping a sticky last bit, so that rounding once more gives what rounding the
// double would.
inline float winnow_round_to_odd(double v) {
  const float near = float(v);
  const double back = double(near);
  if (back == v || v != v || near - near != 0.0f) {
    return near;
  }
  unsigned bits = __builtin_bit_cast(unsigned, near);
  if (__builtin_fabs(back) > __builtin_fabs(v)) {
    --bits;
  }
  return __builtin_bit_cast(float, bits | 1u);
}

inline float winnow_half_to_float(unsigned short bits) {
  return float(__builtin_bit_cast(_Float16, bits));
}
inline unsigned short winnow_float_to_half(float v) {
  return __builtin_bit_cast(unsigned short, _Float16(v));
}
inline float winnow_bfloat16_to_float(unsigned short bits) {
  return __builtin_bit_cast(float, unsigned(bits) << 16);
}
inline unsigned short winnow_float_to_bfloat16(float v) {
  const unsigned bits = __builtin_bit_cast(unsigned, v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return 0x7fffu;
  }
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#pragma clang force_cuda_host_device end
