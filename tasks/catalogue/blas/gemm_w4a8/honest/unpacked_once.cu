/*@winnow
{
  "let": { "words": "ceil_div(half_k, 2)" },
  "scratch": { "bytes": { "dtype": "i32", "count": "n * words", "keep": true } },
  "prepare": [ { "kernel": "unpack", "grid": ["ceil_div(n, 64)", "words"], "block": [64],
                 "args": ["w", "bytes", "n", "half_k"] } ],
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "ceil_div(m, 4)"], "block": [64],
      "args": ["x", "x_scale", "bytes", "w_scale", "y", "m", "n", "half_k", "words"] }
  ]
}
@*/
// The weights are unpacked once, four bytes to a word, as a matrix with one row for each four
// columns. A thread has four rows of one column, and takes four products at once.
#include <cuda_fp16.h>

extern "C" __global__ void unpack(const unsigned char* __restrict__ w, int* __restrict__ bytes,
                                  int n, int half_k) {
  const int j = blockIdx.x * 64 + threadIdx.x, word = blockIdx.y;
  if (j >= n) {
    return;
  }
  unsigned all = 0;
  for (int p = 0; p < 4; ++p) {
    const int q = 2 * word + p / 2;
    const int bits = q < half_k ? w[(size_t)j * half_k + q] >> p % 2 * 4 & 15 : 0;
    all |= (unsigned)(((bits ^ 8) - 8) & 255) << 8 * p;
  }
  bytes[(size_t)word * n + j] = (int)all;
}

__device__ int four_of(const signed char* x, int row, int word, int half_k) {
  unsigned all = 0;
  for (int p = 4 * word; p < min(4 * word + 4, 2 * half_k); ++p) {
    all |= (unsigned)(x[(size_t)row * 2 * half_k + p] & 255) << 8 * (p % 4);
  }
  return (int)all;
}

extern "C" __global__ void gemm(const signed char* __restrict__ x,
                                const float* __restrict__ x_scale, const int* __restrict__ bytes,
                                const __half* __restrict__ w_scale, __half* __restrict__ y, int m,
                                int n, int half_k, int words) {
  const int j = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 4, groups = (half_k + 63) / 64;
  if (j >= n) {
    return;
  }
  float sums[4] = {};
  for (int group = 0; group < groups; ++group) {
    int whole[4] = {};
    for (int word = group * 32; word < min(group * 32 + 32, words); ++word) {
      const int four = bytes[(size_t)word * n + j];
      for (int i = 0; i < 4 && top + i < m; ++i) {
        whole[i] = __dp4a(four_of(x, top + i, word, half_k), four, whole[i]);
      }
    }
    const float scale = __half2float(w_scale[(size_t)j * groups + group]);
    for (int i = 0; i < 4; ++i) {
      sums[i] = fmaf(scale, (float)whole[i], sums[i]);
    }
  }
  for (int i = 0; i < 4 && top + i < m; ++i) {
    y[(size_t)(top + i) * n + j] = __float2half(x_scale[top + i] * sums[i]);
  }
}
