// Conversions between float and the bits of half and bfloat16. F16C instructions when the compiler
// may use them.
#pragma once
#include "winnow_intrinsics.h"

// Double to float keeping a sticky last bit, so that rounding once more gives what rounding the
// double would.
inline float winnow_round_to_odd(double v) {
  const float near = float(v);
  const double back = double(near);
  if (back == v || v != v || near - near != 0.0f) {
    return near;
  }
  unsigned bits = __float_as_uint(near);
  if (fabs(back) > fabs(v)) {
    --bits;
  }
  return __uint_as_float(bits | 1u);
}

#ifdef __F16C__
typedef float WinnowFloats __attribute__((vector_size(16)));
typedef short WinnowShorts __attribute__((vector_size(16)));
inline float winnow_half_to_float(unsigned short bits) {
  return __builtin_ia32_vcvtph2ps(WinnowShorts{short(bits)})[0];
}
inline unsigned short winnow_float_to_half(float v) {
  return static_cast<unsigned short>(__builtin_ia32_vcvtps2ph(WinnowFloats{v}, 0)[0]);
}
#else
inline float winnow_half_to_float(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16;
  const unsigned rest = bits & 0x7fffu;
  if (rest >= 0x7c00u) {
    return __uint_as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13 |
                           (rest > 0x7c00u ? 0x400000u : 0u));
  }
  // Scaling by 2^112 moves the exponent and makes subnormals normal.
  const float magnitude = __uint_as_float(rest << 13) * __uint_as_float(0x77800000u);
  return __uint_as_float(sign | __float_as_uint(magnitude));
}
inline unsigned short winnow_float_to_half(float v) {
  const unsigned bits = __float_as_uint(v);
  const unsigned sign = (bits >> 16) & 0x8000u;
  const unsigned rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) {
    return static_cast<unsigned short>(sign | 0x7e00u | ((rest >> 13) & 0x3ffu));
  }
  if (rest >= 0x477ff000u) { // rounds to 65520 or more
    return static_cast<unsigned short>(sign | 0x7c00u);
  }
  if (rest < 0x38800000u) { // subnormal: let float addition round at the right bit
    const float shifted = __uint_as_float(rest) + 0.5f;
    return static_cast<unsigned short>(sign | (__float_as_uint(shifted) - 0x3f000000u));
  }
  const unsigned rounded = rest + 0xfffu + ((rest >> 13) & 1u);
  return static_cast<unsigned short>(sign | ((rounded - 0x38000000u) >> 13));
}
#endif

inline float winnow_bfloat16_to_float(unsigned short bits) {
  return __uint_as_float(unsigned(bits) << 16);
}
inline unsigned short winnow_float_to_bfloat16(float v) {
  const unsigned bits = __float_as_uint(v);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return 0x7fffu;
  }
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
