/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "quads"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes a group of 128 columns of x and w at a time
// into local memory as integers, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
#include <cuda_fp16.h>

constexpr int kRows = 32, kColumns = 16, kDepth = 128;

// Four weights from three bytes.
__device__ void unpack(const unsigned char* three, int* weights, int stride) {
  const int quad = three[0] | three[1] << 8 | three[2] << 16;
  for (int place = 0; place < 4; ++place) {
    weights[place * stride] = ((quad >> 6 * place & 63) ^ 32) - 32;
  }
}

__global__ void gemm(const signed char* __restrict__ x, const __half* __restrict__ x_scale,
                     const unsigned char* __restrict__ w, const __half* __restrict__ w_scale,
                     __half* __restrict__ y, int m, int n, int quads) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  const int rows = min(kRows, m - top), columns = min(kColumns, n - left);
  const int k = 4 * quads, groups = (quads + 31) / 32;
  float sums[kRows][kColumns] = {};
  int x_tile[kRows][kDepth] = {}, w_tile[kDepth][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start), group = start / kDepth;
    float x_scales[kRows] = {}, w_scales[kColumns] = {};
    for (int i = 0; i < rows; ++i) {
      x_scales[i] = __half2float(x_scale[(size_t)(top + i) * groups + group]);
      for (int p = 0; p < depth; ++p) {
        x_tile[i][p] = x[(size_t)(top + i) * k + start + p];
      }
    }
    for (int j = 0; j < columns; ++j) {
      w_scales[j] = __half2float(w_scale[(size_t)(left + j) * groups + group]);
      for (int p = 0; p < depth; p += 4) {
        unpack(w + ((size_t)(left + j) * quads + (start + p) / 4) * 3, &w_tile[p][j], kColumns);
      }
    }
    for (int i = 0; i < rows; i += 4) {
      int four[4][kColumns] = {};
      for (int p = 0; p < depth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += x_tile[i + row][p] * w_tile[p][j];
          }
        }
      }
      for (int row = 0; row < 4; ++row) {
        for (int j = 0; j < kColumns; ++j) {
          sums[i + row][j] += x_scales[i + row] * w_scales[j] * four[row][j];
        }
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      y[(size_t)(top + i) * n + left + j] = __float2half(sums[i][j]);
    }
  }
}
