// Functions on half, bfloat16 and fp8 for the header tests, which call them from the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

template <class T> static T of(unsigned short bits) {
  T v;
  v.__x = bits;
  return v;
}

EXPORT float half_to_float(unsigned short v) { return __half2float(of<__half>(v)); }
EXPORT unsigned short float_to_half(float v) { return __half_as_ushort(__float2half(v)); }
EXPORT unsigned short float_to_half_down(float v) { return __half_as_ushort(__float2half_rd(v)); }
EXPORT unsigned short float_to_half_up(float v) { return __half_as_ushort(__float2half_ru(v)); }
EXPORT unsigned short float_to_half_zero(float v) { return __half_as_ushort(__float2half_rz(v)); }
EXPORT unsigned short double_to_half(double v) { return __half_as_ushort(__double2half(v)); }
EXPORT unsigned short half_fma(unsigned short a, unsigned short b, unsigned short c) {
  return __half_as_ushort(__hfma(of<__half>(a), of<__half>(b), of<__half>(c)));
}
EXPORT unsigned short half_arithmetic(int op, unsigned short a, unsigned short b) {
  const half x = of<__half>(a);
  const half y = of<__half>(b);
  half z = x;
  switch (op) {
  case '+':
    z += y;
    break;
  case '-':
    z = __hsub(x, y);
    break;
  case '*':
    z = x * y;
    break;
  default:
    z = __hdiv(x, y);
    break;
  }
  return __half_as_ushort(z);
}
EXPORT int half_compare(unsigned short a, unsigned short b) {
  const half x = of<__half>(a);
  const half y = of<__half>(b);
  return (x < y) | (x <= y) << 1 | (x == y) << 2 | __hne(x, y) << 3 | __hgtu(x, y) << 4 |
         __hisnan(x) << 5;
}

EXPORT float bfloat16_to_float(unsigned short v) { return __bfloat162float(of<__nv_bfloat16>(v)); }
EXPORT unsigned short float_to_bfloat16(float v) {
  return __bfloat16_as_ushort(__float2bfloat16(v));
}
EXPORT unsigned short float_to_bfloat16_down(float v) {
  return __bfloat16_as_ushort(__float2bfloat16_rd(v));
}
EXPORT unsigned short float_to_bfloat16_up(float v) {
  return __bfloat16_as_ushort(__float2bfloat16_ru(v));
}
EXPORT unsigned short float_to_bfloat16_zero(float v) {
  return __bfloat16_as_ushort(__float2bfloat16_rz(v));
}
EXPORT unsigned short double_to_bfloat16(double v) {
  return __bfloat16_as_ushort(__double2bfloat16(v));
}

EXPORT float e4m3_to_float(unsigned short v) {
  __nv_fp8_e4m3 f;
  f.__x = static_cast<unsigned char>(v);
  return float(f);
}
EXPORT float e5m2_to_float(unsigned short v) {
  __nv_fp8_e5m2 f;
  f.__x = static_cast<unsigned char>(v);
  return float(f);
}
EXPORT unsigned short float_to_e4m3(float v) { return __nv_fp8_e4m3(v).__x; }
EXPORT unsigned short float_to_e5m2(float v) { return __nv_fp8_e5m2(v).__x; }
EXPORT unsigned short float_to_e4m3_overflowing(float v) {
  return __nv_cvt_float_to_fp8(v, __NV_NOSAT, __NV_E4M3);
}
EXPORT unsigned short float_to_e5m2_overflowing(float v) {
  return __nv_cvt_float_to_fp8(v, __NV_NOSAT, __NV_E5M2);
}

// The pair types, through the names that differ between half and bfloat16.
EXPORT int pairs_agree() {
  const half2 h = __floats2half2_rn(1.5f, -2.0f);
  const __nv_bfloat162 b = __float22bfloat162_rn(make_float2(1.5f, -2.0f));
  const float2 sum = __half22float2(__hadd2(h, __float2half2_rn(0.5f)));
  const float2 product = __bfloat1622float2(__hfma2(b, b, __bfloat162bfloat162(b.x)));
  const half2 swapped = __lowhigh2highlow(h);
  const __nv_bfloat162 both = __halves2bfloat162(__high2bfloat16(b), __low2bfloat16(b));
  const __nv_fp8x4_e4m3 four(make_float4(1.0f, 2.0f, 3.0f, 448.0f));
  const float4 back = float4(four);
  int ok = 1;
  ok &= sum.x == 2.0f && sum.y == -1.5f;
  ok &= product.x == 3.75f && product.y == 5.5f;
  ok &= __low2float(swapped) == -2.0f && __high2float(swapped) == 1.5f;
  ok &= __low2float(both) == -2.0f && float(both.y) == 1.5f;
  ok &= back.x == 1.0f && back.y == 2.0f && back.z == 3.0f && back.w == 448.0f;
  ok &= __hbeq2(h, h) && __heq2_mask(h, swapped) == 0u;
  ok &= float(__hmax(h.x, h.y)) == 1.5f && float(hsqrt(__float2half(4.0f))) == 2.0f;
  ok &= __half2int_rn(__float2half(2.5f)) == 2 && __half2int_ru(__float2half(2.5f)) == 3;
  ok &= sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(__nv_fp8x4_e4m3) == 4;
  return ok;
}
