/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "launches": [
    { "kernel": "gemm<{TILE}>", "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
      "block": ["TILE", "TILE"], "args": ["x", "w", "scale", "y", "m", "n", "16 * blocks"] }
  ]
}
@*/
// One thread an output; tiles of x and of the scaled weights in shared memory, zero-padded at the
// edges. A tile is TILE bytes of w deep: 2 * TILE columns of x.
#include <cuda_bf16.h>

// The 4-bit float in the low four bits: its exponent and mantissa are those of a float that is
// 2^126 times smaller.
__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

__device__ float power(int scale) {
  return __uint_as_float(scale == 0 ? 0x400000u : (unsigned)scale << 23);
}

template <int TILE>
__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const unsigned char* __restrict__ scale, __nv_bfloat16* __restrict__ y, int m,
                     int n, int half_k) {
  __shared__ float x_tile[TILE][2 * TILE];
  __shared__ float w_tile[2 * TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int w_row = blockIdx.x * TILE + threadIdx.y;
  float sum = 0.0f;
  for (int start = 0; start < half_k; start += TILE) {
    const int inner = start + threadIdx.x;
    const bool x_inside = row < m && inner < half_k;
    const __nv_bfloat16* two = x + ((size_t)row * half_k + inner) * 2;
    x_tile[threadIdx.y][2 * threadIdx.x] = x_inside ? __bfloat162float(two[0]) : 0.0f;
    x_tile[threadIdx.y][2 * threadIdx.x + 1] = x_inside ? __bfloat162float(two[1]) : 0.0f;
    const bool w_inside = w_row < n && inner < half_k;
    const size_t at = (size_t)w_row * half_k + inner;
    const int pair = w_inside ? w[at] : 0;
    const float factor = w_inside ? power(scale[at / 16]) : 0.0f;
    w_tile[2 * threadIdx.x][threadIdx.y] = factor * e2m1(pair);
    w_tile[2 * threadIdx.x + 1][threadIdx.y] = factor * e2m1(pair >> 4);
    __syncthreads();
    for (int p = 0; p < 2 * TILE; ++p) {
      sum += x_tile[threadIdx.y][p] * w_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    y[(size_t)row * n + column] = __float2bfloat16(sum);
  }
}
