// 8-bit floats: e4m3 (no infinity, largest 448) and e5m2 (IEEE-like, largest 57344).
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t kind) {
  const int digits = kind == __NV_E4M3 ? 3 : 2;
  const int lowest = kind == __NV_E4M3 ? -6 : -14; // exponent of subnormals
  const unsigned largest = kind == __NV_E4M3 ? 0x7eu : 0x7bu;
  const unsigned sign = (__float_as_uint(v) >> 24) & 0x80u;
  const float magnitude = fabsf(v);
  if (isnan(v)) {
    return static_cast<unsigned char>(sign | 0x7fu);
  }
  unsigned code = largest + 1u;
  if (!isinf(v)) {
    const int own = int(__float_as_uint(magnitude) >> 23) - 127;
    const int exponent = own < lowest ? lowest : own;
    // The value in units of the last digit, rounded to even; a carry moves the exponent by itself.
    const float units = rintf(ldexpf(magnitude, digits - exponent));
    code = exponent > 20 ? largest + 1u : (unsigned(exponent - lowest) << digits) + unsigned(units);
  }
  if (code > largest) {
    code = saturation == __NV_SATFINITE ? largest : largest + 1u;
  }
  return static_cast<unsigned char>(sign | code);
}

inline float winnow_fp8_to_float(unsigned char bits, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) { // the upper half of a half
    return winnow_half_to_float(static_cast<unsigned short>(bits << 8));
  }
  const unsigned code = bits & 0x7fu;
  if (code == 0x7fu) {
    return NAN;
  }
  const unsigned exponent = code >> 3;
  const float magnitude =
      exponent == 0 ? ldexpf(float(code), -9) : ldexpf(float(8u + (code & 7u)), int(exponent) - 10);
  return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(winnow_round_to_odd(v), saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(winnow_half_to_float(v.x), saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v,
                                                      __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(winnow_bfloat16_to_float(v.x), saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
  return static_cast<unsigned short>(__nv_cvt_float_to_fp8(v.x, saturation, kind) |
                                     __nv_cvt_float_to_fp8(v.y, saturation, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2({winnow_half_to_float(v.x), winnow_half_to_float(v.y)},
                                  saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v,
                                                           __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2({winnow_bfloat16_to_float(v.x), winnow_bfloat16_to_float(v.y)},
                                  saturation, kind);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind) {
  __half_raw raw{};
  raw.x = winnow_float_to_half(winnow_fp8_to_float(v, kind));
  return raw;
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v,
                                              __nv_fp8_interpretation_t kind) {
  __half2_raw raw{};
  raw.x = __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v), kind).x;
  raw.y = __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v >> 8), kind).x;
  return raw;
}

#define WINNOW_FP8(Name, Name2, Name4, Kind)                                                       \
  struct Name {                                                                                    \
    __nv_fp8_storage_t __x;                                                                        \
    Name() = default;                                                                              \
    explicit Name(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, Kind)) {}                \
    explicit Name(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, Kind)) {}              \
    explicit Name(__half v) : Name(float(v)) {}                                                    \
    explicit Name(__nv_bfloat16 v) : Name(float(v)) {}                                             \
    explicit Name(int v) : Name(double(v)) {}                                                      \
    explicit Name(unsigned v) : Name(double(v)) {}                                                 \
    explicit Name(long v) : Name(double(v)) {}                                                     \
    explicit Name(unsigned long v) : Name(double(v)) {}                                            \
    explicit Name(long long v) : Name(double(v)) {}                                                \
    explicit Name(unsigned long long v) : Name(double(v)) {}                                       \
    explicit operator float() const { return winnow_fp8_to_float(__x, Kind); }                     \
    explicit operator double() const { return double(float(*this)); }                              \
    explicit operator __half() const { return __half(float(*this)); }                              \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }                \
    explicit operator int() const { return winnow_to_integer<int>(double(float(*this))); }         \
    explicit operator bool() const { return (__x & 0x7fu) != 0; }                                  \
  };                                                                                               \
  struct alignas(2) Name2 {                                                                        \
    __nv_fp8x2_storage_t __x;                                                                      \
    Name2() = default;                                                                             \
    explicit Name2(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}           \
    explicit Name2(__half2 v) : Name2(__half22float2(v)) {}                                        \
    explicit Name2(__nv_bfloat162 v) : Name2(__bfloat1622float2(v)) {}                             \
    explicit operator float2() const {                                                             \
      return {winnow_fp8_to_float(static_cast<unsigned char>(__x), Kind),                          \
              winnow_fp8_to_float(static_cast<unsigned char>(__x >> 8), Kind)};                    \
    }                                                                                              \
    explicit operator __half2() const { return __float22half2_rn(float2(*this)); }                 \
    explicit operator __nv_bfloat162() const { return __float22bfloat162_rn(float2(*this)); }      \
  };                                                                                               \
  struct alignas(4) Name4 {                                                                        \
    __nv_fp8x4_storage_t __x;                                                                      \
    Name4() = default;                                                                             \
    explicit Name4(float4 v)                                                                       \
        : __x(__nv_cvt_float2_to_fp8x2({v.x, v.y}, __NV_SATFINITE, Kind) |                         \
              unsigned(__nv_cvt_float2_to_fp8x2({v.z, v.w}, __NV_SATFINITE, Kind)) << 16) {}       \
    explicit operator float4() const {                                                             \
      return {winnow_fp8_to_float(static_cast<unsigned char>(__x), Kind),                          \
              winnow_fp8_to_float(static_cast<unsigned char>(__x >> 8), Kind),                     \
              winnow_fp8_to_float(static_cast<unsigned char>(__x >> 16), Kind),                    \
              winnow_fp8_to_float(static_cast<unsigned char>(__x >> 24), Kind)};                   \
    }                                                                                              \
  };
WINNOW_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
WINNOW_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef WINNOW_FP8
