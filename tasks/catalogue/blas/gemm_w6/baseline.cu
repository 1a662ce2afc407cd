/*@winnow
{
  "params": { "TILE": [16, 32, 8] },
  "let": { "few": "m == 1 ? 1 : m <= 4 ? 4 : m <= 8 ? 8 : m <= 16 ? 16 : 24" },
  "launches": [
    { "kernel": "few_rows<{few}>", "when": "m <= 24", "grid": ["ceil_div(n, 4)"],
      "block": [32, 4], "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "quads"] },
    { "kernel": "gemm<{TILE}>", "when": "m > 24",
      "grid": ["ceil_div(n, TILE)", "ceil_div(m, TILE)"], "block": ["TILE", "TILE"],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "quads"] }
  ]
}
@*/
// Few rows of x: a warp reads a row of w once for all of them, a lane four weights of each group.
// Else one thread an output, with tiles of x and of the weights in shared memory, zero-padded at
// the edges. A tile is 2 * TILE columns deep, and a group of 128 columns is a whole number of
// tiles.
#include <cuda_fp16.h>

// 24 bits with four weights.
__device__ int quad_at(const unsigned char* three) {
  return three[0] | three[1] << 8 | three[2] << 16;
}
__device__ int weight(int quad, int place) {
  return ((quad >> 6 * place & 63) ^ 32) - 32;
}

template <int M>
__global__ void few_rows(const signed char* __restrict__ x, const __half* __restrict__ x_scale,
                         const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                         __half* __restrict__ y, int m, int n, int quads) {
  const int j = blockIdx.x * 4 + threadIdx.y, groups = (quads + 31) / 32;
  if (j >= n) {
    return;
  }
  float sums[M] = {};
  for (int group = 0; group < groups; ++group) {
    const int q = group * 32 + threadIdx.x;
    if (q >= quads) {
      break;
    }
    const int quad = quad_at(w + ((size_t)j * quads + q) * 3);
    const int w0 = weight(quad, 0), w1 = weight(quad, 1), w2 = weight(quad, 2),
              w3 = weight(quad, 3);
    const float scale = __half2float(w_scale[(size_t)j * groups + group]);
    for (int i = 0; i < M && i < m; ++i) {
      const char4 four = reinterpret_cast<const char4*>(x)[(size_t)i * quads + q];
      const int whole = four.x * w0 + four.y * w1 + four.z * w2 + four.w * w3;
      sums[i] += scale * __half2float(x_scale[(size_t)i * groups + group]) * whole;
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
__global__ void gemm(const signed char* __restrict__ x, const __half* __restrict__ x_scale,
                     const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                     __half* __restrict__ y, int m, int n, int quads) {
  constexpr int kDepth = 2 * TILE;
  __shared__ int x_tile[TILE][kDepth];
  __shared__ int w_tile[kDepth][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int w_row = blockIdx.x * TILE + threadIdx.y;
  const int k = 4 * quads, groups = (quads + 31) / 32;
  float sum = 0.0f;
  int whole = 0;
  for (int start = 0; start < k; start += kDepth) {
    for (int p = threadIdx.x; p < kDepth; p += TILE) {
      const bool inside = row < m && start + p < k;
      x_tile[threadIdx.y][p] = inside ? x[(size_t)row * k + start + p] : 0;
    }
    for (int q = threadIdx.x; q < kDepth / 4; q += TILE) {
      const bool inside = w_row < n && start / 4 + q < quads;
      const size_t at = (size_t)w_row * quads + start / 4 + q;
      const int quad = inside ? quad_at(w + at * 3) : 0;
      for (int place = 0; place < 4; ++place) {
        w_tile[4 * q + place][threadIdx.y] = weight(quad, place);
      }
    }
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
      whole += x_tile[threadIdx.y][p] * w_tile[p][threadIdx.x];
    }
    const bool group_ends = (start + kDepth) % 128 == 0 || start + kDepth >= k;
    if (group_ends && row < m && column < n) {
      const int group = start / 128;
      sum += __half2float(x_scale[(size_t)row * groups + group]) *
             __half2float(w_scale[(size_t)column * groups + group]) * whole;
      whole = 0;
    }
    __syncthreads();
  }
  if (row < m && column < n) {
    y[(size_t)row * n + column] = __float2half(sum);
  }
}
