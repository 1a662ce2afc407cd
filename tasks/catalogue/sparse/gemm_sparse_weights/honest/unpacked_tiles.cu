/*@winnow
{
  "params": { "PARTS": [3] },
  "let": { "down": "ceil_div(n, 32)", "across": "ceil_div(k, 64)", "tiles": "down * across",
           "part": "ceil_div(across, PARTS)" },
  "scratch": { "count": { "dtype": "i32", "count": "tiles", "keep": true },
               "entry": { "dtype": "u32", "count": "tiles * 2048", "keep": true },
               "sum": { "dtype": "f32", "count": "m * n" } },
  "prepare": [ { "kernel": "pack", "grid": ["across", "down"], "block": [1],
                 "args": ["w", "count", "entry", "n", "k"] } ],
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "multiply", "grid": ["down", "ceil_div(m, 8)", "PARTS"], "block": [32],
      "args": ["x", "count", "entry", "sum", "m", "n", "k", "across", "part"] },
    { "kernel": "round_sums", "grid": ["ceil_div(m * n, 64)"], "block": [64],
      "args": ["sum", "y", "m * n"] }
  ]
}
@*/
// Loads sparse and computes dense: a tile of 32 x 64 weights is a list of places and values, which
// a warp spreads in shared memory. A lane then sums eight outputs of its row of the tile. The tiles
// of a row are split into parts, which add their sums by atomics.
#include <cuda_fp16.h>

extern "C" __global__ void pack(const __half* __restrict__ w, int* __restrict__ count,
                                unsigned* __restrict__ entry, int n, int k) {
  const size_t tile = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
  const int top = blockIdx.y * 32, left = blockIdx.x * 64;
  int found = 0;
  for (int place = 0; place < 2048; ++place) {
    const int j = top + place / 64, p = left + place % 64;
    if (j < n && p < k && __half2float(w[(size_t)j * k + p]) != 0.0f) {
      entry[tile * 2048 + found++] = place << 16 | __half_as_ushort(w[(size_t)j * k + p]);
    }
  }
  count[tile] = found;
}

extern "C" __global__ void multiply(const __half* __restrict__ x, const int* __restrict__ count,
                                    const unsigned* __restrict__ entry, float* sum, int m, int n,
                                    int k, int across, int part) {
  __shared__ float weights[32 * 65], numbers[8][64];
  const int top = blockIdx.y * 8, lane = threadIdx.x, j = blockIdx.x * 32 + lane;
  const int end = min(across, (int)(blockIdx.z + 1) * part);
  float sums[8] = {};
  for (int step = blockIdx.z * part; step < end; ++step) {
    const size_t tile = (size_t)blockIdx.x * across + step;
    for (int i = lane; i < 32 * 65; i += 32) {
      weights[i] = 0.0f;
    }
    for (int i = lane; i < 8 * 64; i += 32) {
      const int row = top + i / 64, p = step * 64 + i % 64;
      numbers[i / 64][i % 64] = row < m && p < k ? __half2float(x[(size_t)row * k + p]) : 0.0f;
    }
    __syncthreads();
    for (int i = lane; i < count[tile]; i += 32) {
      const unsigned word = entry[tile * 2048 + i], place = word >> 16;
      weights[place / 64 * 65 + place % 64] = __half2float(__ushort_as_half(word & 0xffff));
    }
    __syncthreads();
    for (int p = 0; p < 64; ++p) {
      for (int i = 0; i < 8; ++i) {
        sums[i] += numbers[i][p] * weights[lane * 65 + p];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8 && j < n && top + i < m; ++i) {
    atomicAdd(&sum[(size_t)(top + i) * n + j], sums[i]);
  }
}

extern "C" __global__ void round_sums(const float* __restrict__ sum, __half* __restrict__ y,
                                      long long count) {
  const long long at = blockIdx.x * 64LL + threadIdx.x;
  if (at < count) {
    y[at] = __float2half(sum[at]);
  }
}
