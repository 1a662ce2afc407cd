/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["x", "w", "scale", "y", "m", "n", "2 * half_k"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes 64 columns of x and w at a time into local
// memory as floats, with zeros at the edges. Four rows of sixteen sums stay in vector registers.
#include <cuda_bf16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 64;

// A weight from the low four bits.
__device__ float nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const float* __restrict__ scale, __nv_bfloat16* __restrict__ y, int m, int n,
                     int k) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  float sums[kRows][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    float x_tile[kRows][kDepth], w_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        x_tile[i][p] = top + i < m ? __bfloat162float(x[(size_t)(top + i) * k + start + p]) : 0.0f;
      }
    }
    for (int p = 0; p < depth; ++p) {
      for (int j = 0; j < kColumns; ++j) {
        w_tile[p][j] =
            left + j < n
                ? nibble(w[((size_t)(left + j) * k + start + p) / 2] >> (start + p) % 2 * 4)
                : 0.0f;
      }
    }
    for (int i = 0; i < kRows; i += 4) {
      float four[4][kColumns];
      memcpy(four, sums[i], sizeof(four));
      for (int p = 0; p < depth; ++p) {
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
      y[(size_t)(top + i) * n + left + j] = __float2bfloat16(scale[left + j] * sums[i][j]);
    }
  }
}
