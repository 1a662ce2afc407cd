#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void small_floats(float* p, __nv_bfloat16* b, half* h, __nv_fp8_e4m3* e) {
  b[0] = __float2bfloat16(p[1]);
  b[1] = b[0] * b[2] + __hmax(b[0], b[1]);
  p[0] = __bfloat162float(b[3]);
  __nv_bfloat162 b2 = __floats2bfloat162_rn(1.0f, 2.0f);
  b2 = __hfma2(b2, b2, b2);
  b[2] = b2.x;
  h[0] = __float2half(p[1]);
  h[1] = __hadd(h[0], h[1]) * h[2] + __hmax(h[0], h[1]);
  __half2 h2 = __halves2half2(h[0], h[1]);
  h2 = __hmax2(__hfma2(h2, h2, h2), __float22half2_rn(__half22float2(h2)));
  h[2] = __low2half(h2) + h2.y + hexp(h[3]);
  e[0] = __nv_fp8_e4m3(p[2]);
  p[1] = float(e[1]) + __half2float(h[2]);
}
