/*@winnow
{
  "launches": [
    { "kernel": "expert_gemm", "grid": ["ceil_div(n, 16)", "experts"], "block": [1],
      "args": ["x", "w", "scale", "offsets", "y", "n", "blocks"] }
  ]
}
@*/
// A block is one thread with sixteen columns of one expert. It takes 32 rows and a block of 32
// columns of x and w at a time into local memory as floats, with zeros at the edges. Four rows of
// sixteen sums stay in vector registers.
#include <cuda_bf16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 32;

__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

__device__ float power(int scale) {
  return __uint_as_float(scale == 0 ? 0x400000u : (unsigned)scale << 23);
}

__device__ void multiply(const __nv_bfloat16* x, const unsigned char* w, const unsigned char* scale,
                         int rows, int columns, int blocks, float (*sums)[kColumns]) {
  for (int b = 0; b < blocks; ++b) {
    float x_tile[kRows][kDepth], w_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < kDepth; ++p) {
        x_tile[i][p] = i < rows ? __bfloat162float(x[((size_t)i * blocks + b) * kDepth + p]) : 0.0f;
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      const size_t at = (size_t)j * blocks + b;
      const float factor = j < columns ? power(scale[at]) : 0.0f;
      for (int q = 0; q < kDepth / 2; ++q) {
        const int pair = j < columns ? w[at * 16 + q] : 0;
        w_tile[2 * q][j] = factor * e2m1(pair);
        w_tile[2 * q + 1][j] = factor * e2m1(pair >> 4);
      }
    }
    for (int i = 0; i < rows; i += 4) {
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
}

__global__ void expert_gemm(const __nv_bfloat16* __restrict__ x,
                            const unsigned char* __restrict__ w,
                            const unsigned char* __restrict__ scale,
                            const int* __restrict__ offsets, __nv_bfloat16* __restrict__ y, int n,
                            int blocks) {
  const int left = blockIdx.x * kColumns, columns = min(kColumns, n - left);
  const size_t at = ((size_t)blockIdx.y * n + left) * blocks;
  const int end = offsets[blockIdx.y + 1];
  for (int top = offsets[blockIdx.y]; top < end; top += kRows) {
    const int rows = min(kRows, end - top);
    float sums[kRows][kColumns] = {};
    multiply(x + (size_t)top * blocks * kDepth, w + at * 16, scale + at, rows, columns, blocks,
             sums);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        y[(size_t)(top + i) * n + left + j] = __float2bfloat16(sums[i][j]);
      }
    }
  }
}
