/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "launches": [
    { "kernel": "gemm<{TILE}>", "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"],
      "block": ["TILE", "TILE"],
      "args": ["a", "b", "c", "scale_a", "scale_b", "m", "n", "k"] }
  ]
}
@*/
// One thread an output; tiles of a and b in shared memory as float, zero-padded at the edges.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

template <int TILE>
__global__ void gemm(const __nv_fp8_e4m3* __restrict__ a, const __nv_fp8_e4m3* __restrict__ b,
                     __nv_bfloat16* __restrict__ c, float scale_a, float scale_b, int m, int n,
                     int k) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    const int inner = start + threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && inner < k ? float(a[(size_t)row * k + inner]) : 0.0f;
    // b is transposed on its way into shared memory: neighbouring threads read along k.
    const int b_row = blockIdx.x * TILE + threadIdx.y;
    b_tile[threadIdx.x][threadIdx.y] =
        b_row < n && inner < k ? float(b[(size_t)b_row * k + inner]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) {
      sum += a_tile[threadIdx.y][p] * b_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    c[(size_t)row * n + column] = __float2bfloat16(scale_a * scale_b * sum);
  }
}
