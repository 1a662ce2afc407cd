/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "w", "scale", "y", "n", "blocks"] } ] }
@*/
// Wrong: the products of a block are added up in half precision, two at a time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const unsigned char* __restrict__ w,
                                const unsigned char* __restrict__ scale,
                                __nv_bfloat16* __restrict__ y, int n, int blocks) {
  const size_t row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int b = 0; b < blocks; ++b) {
    __half2 block = __float2half2_rn(0.0f);
    for (int q = 0; q < 16; ++q) {
      const int pair = w[(column * blocks + b) * 16 + q];
      const __nv_bfloat16* two = x + (row * blocks + b) * 32 + 2 * q;
      block = __hfma2(__floats2half2_rn(__bfloat162float(two[0]), __bfloat162float(two[1])),
                      __floats2half2_rn(e2m1(pair), e2m1(pair >> 4)), block);
    }
    const float both = __low2float(block) + __high2float(block);
    sum += ldexpf(both, scale[column * blocks + b] - 127);
  }
  y[row * n + column] = __float2bfloat16(sum);
}
