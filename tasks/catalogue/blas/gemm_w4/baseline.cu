/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "launches": [
    { "kernel": "gemm<{TILE}>", "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
      "block": ["TILE", "TILE"], "args": ["x", "w", "scale", "y", "m", "n", "half_k"] }
  ]
}
@*/
// One thread an output; tiles of x and of the unpacked weights in shared memory, zero-padded at the
// edges. A tile is TILE bytes of w deep: 2 * TILE columns of x.
#include <cuda_bf16.h>

// A weight from the low four bits.
__device__ float nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

template <int TILE>
__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const float* __restrict__ scale, __nv_bfloat16* __restrict__ y, int m, int n,
                     int half_k) {
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
    const int pair = w_row < n && inner < half_k ? w[(size_t)w_row * half_k + inner] : 0;
    w_tile[2 * threadIdx.x][threadIdx.y] = nibble(pair);
    w_tile[2 * threadIdx.x + 1][threadIdx.y] = nibble(pair >> 4);
    __syncthreads();
    for (int p = 0; p < 2 * TILE; ++p) {
      sum += x_tile[threadIdx.y][p] * w_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    y[(size_t)row * n + column] = __float2bfloat16(scale[column] * sum);
  }
}
