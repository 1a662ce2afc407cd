/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["a", "b", "c", "scale_a", "scale_b", "m", "n", "k"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes 64 columns of a and b at a time into
// local memory as floats, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 64;

__global__ void gemm(const __nv_fp8_e4m3* __restrict__ a, const __nv_fp8_e4m3* __restrict__ b,
                     __nv_bfloat16* __restrict__ c, float scale_a, float scale_b, int m, int n,
                     int k) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  float values[256]; // of every code
  for (int code = 0; code < 256; ++code) {
    __nv_fp8_e4m3 value;
    value.__x = code;
    values[code] = float(value);
  }
  float sums[kRows][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    float a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        a_tile[i][p] = top + i < m ? values[a[(size_t)(top + i) * k + start + p].__x] : 0.0f;
      }
    }
    for (int p = 0; p < depth; ++p) {
      for (int j = 0; j < kColumns; ++j) {
        b_tile[p][j] = left + j < n ? values[b[(size_t)(left + j) * k + start + p].__x] : 0.0f;
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
            four[row][j] += a_tile[i + row][p] * b_tile[p][j];
          }
        }
      }
      memcpy(sums[i], four, sizeof(four));
    }
  }
  for (int i = 0; i < min(kRows, m - top); ++i) {
    for (int j = 0; j < min(kColumns, n - left); ++j) {
      c[(size_t)(top + i) * n + left + j] = __float2bfloat16(scale_a * scale_b * sums[i][j]);
    }
  }
}
