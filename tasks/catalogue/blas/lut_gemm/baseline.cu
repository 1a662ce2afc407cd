/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "let": { "few": "m == 1 ? 1 : m <= 4 ? 4 : m <= 8 ? 8 : m <= 16 ? 16 : 24" },
  "launches": [
    { "kernel": "few_rows<{few}>", "when": "m <= 24", "grid": ["ceil_div(n, 4)"],
      "block": [32, 4], "args": ["x", "w", "table", "y", "m", "n", "half_k"] },
    { "kernel": "gemm<{TILE}>", "when": "m > 24",
      "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"], "block": ["TILE", "TILE"],
      "args": ["x", "w", "table", "y", "m", "n", "half_k"] }
  ]
}
@*/
// Few rows of x: a warp reads a row of w once for all of them, with its table in shared memory.
// Else one thread an output, with tiles of x and of the weights in shared memory, zero-padded at
// the edges. A tile is TILE bytes of w deep: 2 * TILE columns of x.
#include <cuda_fp16.h>

template <int M>
__global__ void few_rows(const __half* __restrict__ x, const unsigned char* __restrict__ w,
                         const __half* __restrict__ table, __half* __restrict__ y, int m, int n,
                         int half_k) {
  __shared__ float tables[4][16];
  const int j = blockIdx.x * 4 + threadIdx.y;
  float* weight = tables[threadIdx.y];
  if (j < n && threadIdx.x < 16) {
    weight[threadIdx.x] = __half2float(table[(size_t)j * 16 + threadIdx.x]);
  }
  __syncthreads();
  if (j >= n) {
    return;
  }
  const __half2* pairs = reinterpret_cast<const __half2*>(x);
  float sums[M] = {};
  for (int q = threadIdx.x; q < half_k; q += 32) {
    const int codes = w[(size_t)j * half_k + q];
    const float low = weight[codes & 15], high = weight[codes >> 4];
    for (int i = 0; i < M && i < m; ++i) {
      const float2 two = __half22float2(pairs[(size_t)i * half_k + q]);
      sums[i] += two.x * low + two.y * high;
    }
  }
  for (int i = 0; i < M && i < m; ++i) {
    float sum = sums[i];
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
    }
    if (threadIdx.x == 0) {
      y[(size_t)i * n + j] = __float2half(sum);
    }
  }
}

template <int TILE>
__global__ void gemm(const __half* __restrict__ x, const unsigned char* __restrict__ w,
                     const __half* __restrict__ table, __half* __restrict__ y, int m, int n,
                     int half_k) {
  __shared__ float x_tile[TILE][2 * TILE];
  __shared__ float w_tile[2 * TILE][TILE + 1];
  __shared__ float tables[TILE][17];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int w_row = blockIdx.x * TILE + threadIdx.y;
  for (int c = threadIdx.x; c < 16; c += TILE) {
    tables[threadIdx.y][c] = w_row < n ? __half2float(table[(size_t)w_row * 16 + c]) : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int start = 0; start < half_k; start += TILE) {
    const int inner = start + threadIdx.x;
    const bool x_inside = row < m && inner < half_k;
    const __half* two = x + ((size_t)row * half_k + inner) * 2;
    x_tile[threadIdx.y][2 * threadIdx.x] = x_inside ? __half2float(two[0]) : 0.0f;
    x_tile[threadIdx.y][2 * threadIdx.x + 1] = x_inside ? __half2float(two[1]) : 0.0f;
    const int codes = w_row < n && inner < half_k ? w[(size_t)w_row * half_k + inner] : 0;
    w_tile[2 * threadIdx.x][threadIdx.y] = tables[threadIdx.y][codes & 15];
    w_tile[2 * threadIdx.x + 1][threadIdx.y] = tables[threadIdx.y][codes >> 4];
    __syncthreads();
    for (int p = 0; p < 2 * TILE; ++p) {
      sum += x_tile[threadIdx.y][p] * w_tile[p][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    y[(size_t)row * n + column] = __float2half(sum);
  }
}
