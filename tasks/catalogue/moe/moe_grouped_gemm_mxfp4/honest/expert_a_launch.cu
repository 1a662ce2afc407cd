/*@winnow
{
  "launches": [
    { "repeat": "experts", "as": "e",
      "do": [ { "kernel": "gemm", "grid": ["ceil_div(n, 4)"], "block": [32, 4],
                "args": ["x", "w", "scale", "offsets", "y", "e", "n", "blocks"] } ] }
  ]
}
@*/
// A launch for each expert. A warp has one column and all rows of the expert; each lane adds up
// whole blocks of products of twice the weights, which are whole numbers, and scales their sum.
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
                                const int* __restrict__ offsets, __nv_bfloat16* __restrict__ y,
                                int e, int n, int blocks) {
  const int j = blockIdx.x * 4 + threadIdx.y;
  if (j >= n) {
    return;
  }
  const size_t first = ((size_t)e * n + j) * blocks;
  for (int slot = offsets[e]; slot < offsets[e + 1]; ++slot) {
    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += 32) {
      float block = 0.0f;
      for (int q = 0; q < 16; ++q) {
        const int pair = w[(first + b) * 16 + q];
        const __nv_bfloat16* two = x + ((size_t)slot * blocks + b) * 32 + 2 * q;
        block +=
            __bfloat162float(two[0]) * twice(pair) + __bfloat162float(two[1]) * twice(pair >> 4);
      }
      sum += ldexpf(block, scale[first + b] - 128);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
    }
    if (threadIdx.x == 0) {
      y[(size_t)slot * n + j] = __float2bfloat16(sum);
    }
  }
}
