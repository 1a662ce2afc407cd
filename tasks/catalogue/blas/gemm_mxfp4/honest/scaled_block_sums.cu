/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 4)", "m"], "block": [32, 4],
      "args": ["x", "w", "scale", "y", "n", "blocks"] }
  ]
}
@*/
// A warp an output; each lane adds up whole blocks of 32 products of twice the weights, which are
// whole numbers, and scales their sum. Shuffles merge the lanes.
#include <cuda_bf16.h>

// Twice the 4-bit float in the low four bits.
__device__ int twice(int bits) {
  const int code = bits & 7;
  const int size = code < 2 ? code : (2 | (code & 1)) << ((code >> 1) - 1);
  return (bits & 8) != 0 ? -size : size;
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const unsigned char* __restrict__ w,
                                const unsigned char* __restrict__ scale,
                                __nv_bfloat16* __restrict__ y, int n, int blocks) {
  const size_t row = blockIdx.y, column = blockIdx.x * 4 + threadIdx.y;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int b = threadIdx.x; b < blocks; b += 32) {
    float block = 0.0f;
    for (int q = 0; q < 16; ++q) {
      const int pair = w[(column * blocks + b) * 16 + q];
      const __nv_bfloat16* two = x + (row * blocks + b) * 32 + 2 * q;
      block += __bfloat162float(two[0]) * twice(pair) + __bfloat162float(two[1]) * twice(pair >> 4);
    }
    sum += ldexpf(block, scale[column * blocks + b] - 128);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
  }
  if (threadIdx.x == 0) {
    y[row * n + column] = __float2bfloat16(sum);
  }
}
