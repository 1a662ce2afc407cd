/*@winnow
{
  "params": { "PARTS": [5] },
  "let": { "part": "ceil_div(blocks, PARTS)" },
  "scratch": { "partial": { "dtype": "f32", "count": "PARTS * m * n" } },
  "launches": [
    { "kernel": "gemm_parts", "grid": ["ceil_div(n, 64)", "m", "PARTS"], "block": [64],
      "args": ["x", "w", "scale", "partial", "m", "n", "blocks", "part"] },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["partial", "y", "m", "n", "PARTS"] }
  ]
}
@*/
// Each part of the blocks by itself into scratch; a second pass adds the parts. A weight becomes a
// bfloat16 by its bits, whose product with the power of two is exact.
#include <cuda_bf16.h>

__device__ __nv_bfloat16 e2m1(unsigned bits) {
  const __nv_bfloat16 tiny = __ushort_as_bfloat16((bits & 8) << 12 | (bits & 7) << 6);
  return __float2bfloat16(__bfloat162float(tiny) * 0x1p126f);
}

extern "C" __global__ void gemm_parts(const __nv_bfloat16* __restrict__ x,
                                      const unsigned char* __restrict__ w,
                                      const unsigned char* __restrict__ scale,
                                      float* __restrict__ partial, int m, int n, int blocks,
                                      int part) {
  const size_t row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int b = blockIdx.z * part; b < min(blocks, ((int)blockIdx.z + 1) * part); ++b) {
    const float power = exp2f((float)scale[column * blocks + b] - 127.0f);
    for (int p = 0; p < 32; ++p) {
      const int pair = w[(column * blocks + b) * 16 + p / 2];
      const float factor = __bfloat162float(x[(row * blocks + b) * 32 + p]);
      sum += factor * (power * __bfloat162float(e2m1(pair >> 4 * (p % 2))));
    }
  }
  partial[(blockIdx.z * (size_t)m + row) * n + column] = sum;
}

extern "C" __global__ void add_parts(const float* __restrict__ partial,
                                     __nv_bfloat16* __restrict__ y, int m, int n, int parts) {
  const size_t row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    sum += partial[((size_t)part * m + row) * n + column];
  }
  y[row * n + column] = __float2bfloat16(sum);
}
