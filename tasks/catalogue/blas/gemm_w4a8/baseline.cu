/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "let": { "few": "m == 1 ? 1 : m <= 4 ? 4 : m <= 8 ? 8 : m <= 16 ? 16 : 24" },
  "launches": [
    { "kernel": "few_rows<{few}>", "when": "m <= 24", "grid": ["ceil_div(n, 4)"],
      "block": [32, 4], "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "half_k"] },
    { "kernel": "gemm<{TILE}>", "when": "m > 24",
      "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"], "block": ["TILE", "TILE"],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "half_k"] }
  ]
}
@*/
// Few rows of x: a warp reads a row of w once for all of them. Else one thread an output, with
// tiles of x and of the weights in shared memory, zero-padded at the edges. A tile is TILE bytes of
// w deep, and a group of 128 columns is a whole number of tiles.
#include <cuda_fp16.h>

// A weight from the low four bits.
__device__ int nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

template <int M>
__global__ void few_rows(const signed char* __restrict__ x, const float* __restrict__ x_scale,
                         const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                         __half* __restrict__ y, int m, int n, int half_k) {
  const int j = blockIdx.x * 4 + threadIdx.y, groups = (half_k + 63) / 64;
  if (j >= n) {
    return;
  }
  float sums[M] = {};
  for (int group = 0; group < groups; ++group) {
    int whole[M] = {};
    for (int q = group * 64 + threadIdx.x; q < min(group * 64 + 64, half_k); q += 32) {
      const int pair = w[(size_t)j * half_k + q];
      const int low = nibble(pair), high = nibble(pair >> 4);
      for (int i = 0; i < M && i < m; ++i) {
        const signed char* two = x + ((size_t)i * half_k + q) * 2;
        whole[i] += two[0] * low + two[1] * high;
      }
    }
    const float scale = __half2float(w_scale[(size_t)j * groups + group]);
    for (int i = 0; i < M; ++i) {
      sums[i] += scale * whole[i];
    }
  }
  for (int i = 0; i < M && i < m; ++i) {
    float sum = sums[i];
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, offset, 32);
    }
    if (threadIdx.x == 0) {
      y[(size_t)i * n + j] = __float2half(x_scale[i] * sum);
    }
  }
}

template <int TILE>
__global__ void gemm(const signed char* __restrict__ x, const float* __restrict__ x_scale,
                     const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                     __half* __restrict__ y, int m, int n, int half_k) {
  __shared__ int x_tile[TILE][2 * TILE];
  __shared__ int w_tile[2 * TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int w_row = blockIdx.x * TILE + threadIdx.y;
  const int groups = (half_k + 63) / 64;
  float sum = 0.0f;
  int whole = 0;
  for (int start = 0; start < half_k; start += TILE) {
    const int inner = start + threadIdx.x;
    const bool x_inside = row < m && inner < half_k;
    const signed char* two = x + ((size_t)row * half_k + inner) * 2;
    x_tile[threadIdx.y][2 * threadIdx.x] = x_inside ? two[0] : 0;
    x_tile[threadIdx.y][2 * threadIdx.x + 1] = x_inside ? two[1] : 0;
    const int pair = w_row < n && inner < half_k ? w[(size_t)w_row * half_k + inner] : 0;
    w_tile[2 * threadIdx.x][threadIdx.y] = nibble(pair);
    w_tile[2 * threadIdx.x + 1][threadIdx.y] = nibble(pair >> 4);
    __syncthreads();
    for (int p = 0; p < 2 * TILE; ++p) {
      whole += x_tile[threadIdx.y][p] * w_tile[p][threadIdx.x];
    }
    if (column < n && ((start + TILE) % 64 == 0 || start + TILE >= half_k)) { // a group ends
      sum += __half2float(w_scale[(size_t)column * groups + start / 64]) * whole;
      whole = 0;
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    y[(size_t)row * n + column] = __float2half(x_scale[row] * sum);
  }
}
