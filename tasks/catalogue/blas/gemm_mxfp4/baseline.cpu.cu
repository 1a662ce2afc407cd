/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["x", "w", "scale", "y", "m", "n", "blocks"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes a block of 32 columns of x and w at a time
// into local memory as floats, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
#include <cuda_bf16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 32;

__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

__device__ float power(int scale) {
  return __uint_as_float(scale == 0 ? 0x400000u : (unsigned)scale << 23);
}

__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const unsigned char* __restrict__ scale, __nv_bfloat16* __restrict__ y, int m,
                     int n, int blocks) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  float sums[kRows][kColumns] = {};
  for (int b = 0; b < blocks; ++b) {
    float x_tile[kRows][kDepth], w_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < kDepth; ++p) {
        x_tile[i][p] =
            top + i < m ? __bfloat162float(x[((size_t)(top + i) * blocks + b) * kDepth + p]) : 0.0f;
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      const size_t at = (size_t)(left + j) * blocks + b;
      const float factor = left + j < n ? power(scale[at]) : 0.0f;
      for (int q = 0; q < kDepth / 2; ++q) {
        const int pair = left + j < n ? w[at * 16 + q] : 0;
        w_tile[2 * q][j] = factor * e2m1(pair);
        w_tile[2 * q + 1][j] = factor * e2m1(pair >> 4);
      }
    }
    for (int i = 0; i < kRows; i += 4) {
      float four[4][kColumns];
      memcpy(four, sums[i], sizeof(four));
      for (int p = 0; p < kDepth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += x_tile[i + row][p] * w_tile[p][j];
          }
        }
      }
      memcpy(sums[i], four, sizeof(four));
    }
  }
  for (int i = 0; i < min(kRows, m - top); ++i) {
    for (int j = 0; j < min(kColumns, n - left); ++j) {
      y[(size_t)(top + i) * n + left + j] = __float2bfloat16(sums[i][j]);
    }
  }
}
