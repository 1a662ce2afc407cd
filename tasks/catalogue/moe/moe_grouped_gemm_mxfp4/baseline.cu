/*@winnow
{
  "params": { "SIDE": [4, 2] },
  "let": {
    "slots": "tokens * topk",
    "tile": "16 * SIDE",
    "tiles": "min(slots, slots / tile + experts)"
  },
  "launches": [
    { "kernel": "gemm<{SIDE}>", "grid": ["ceil_div(n, tile)", "tiles"], "block": [16, 16],
      "args": ["x", "w", "scale", "offsets", "y", "experts", "n", "16 * blocks"] }
  ]
}
@*/
// The rows of each expert are cut into tiles, the last of which is padded. A tile of rows and
// columns is a block: 16 x 16 threads, SIDE x SIDE sums in the registers of each, tiles in shared
// memory as float.
#include <cuda_bf16.h>

// The 4-bit float in the low four bits: its exponent and mantissa are those of a float that is
// 2^126 times smaller.
__device__ float e2m1(unsigned bits) {
  return __uint_as_float((bits & 8) << 28 | (bits & 7) << 22) * 0x1p126f;
}

__device__ float power(int scale) {
  return __uint_as_float(scale == 0 ? 0x400000u : (unsigned)scale << 23);
}

template <int SIDE>
__global__ void gemm(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w,
                     const unsigned char* __restrict__ scale, const int* __restrict__ offsets,
                     __nv_bfloat16* __restrict__ y, int experts, int n, int half_k) {
  constexpr int kTile = 16 * SIDE, kDepth = 8; // bytes of w, or pairs of columns of x
  __shared__ float x_tile[2 * kDepth][kTile + 1];
  __shared__ float w_tile[2 * kDepth][kTile + 1];
  int expert = 0, tile = blockIdx.y;
  for (; expert < experts; ++expert) {
    const int tiles = (offsets[expert + 1] - offsets[expert] + kTile - 1) / kTile;
    if (tile < tiles) {
      break;
    }
    tile -= tiles;
  }
  if (expert == experts) {
    return;
  }
  const int top = offsets[expert] + tile * kTile, end = offsets[expert + 1];
  const int left = blockIdx.x * kTile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[SIDE][SIDE] = {};
  for (int start = 0; start < half_k; start += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      const int row = i / kDepth, q = i % kDepth;
      const bool x_inside = top + row < end, w_inside = left + row < n;
      const __nv_bfloat16* two = x + ((size_t)(top + row) * half_k + start + q) * 2;
      x_tile[2 * q][row] = x_inside ? __bfloat162float(two[0]) : 0.0f;
      x_tile[2 * q + 1][row] = x_inside ? __bfloat162float(two[1]) : 0.0f;
      const size_t at = ((size_t)expert * n + left + row) * half_k + start + q;
      const int pair = w_inside ? w[at] : 0;
      const float factor = w_inside ? power(scale[at / 16]) : 0.0f;
      w_tile[2 * q][row] = factor * e2m1(pair);
      w_tile[2 * q + 1][row] = factor * e2m1(pair >> 4);
    }
    __syncthreads();
    for (int p = 0; p < 2 * kDepth; ++p) {
      float rows[SIDE], columns[SIDE];
      for (int i = 0; i < SIDE; ++i) {
        rows[i] = x_tile[p][threadIdx.y + 16 * i];
        columns[i] = w_tile[p][threadIdx.x + 16 * i];
      }
      for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
          sums[i][j] += rows[i] * columns[j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < SIDE; ++i) {
    const int row = top + threadIdx.y + 16 * i;
    for (int j = 0; j < SIDE; ++j) {
      const int column = left + threadIdx.x + 16 * j;
      if (row < end && column < n) {
        y[(size_t)row * n + column] = __float2bfloat16(sums[i][j]);
      }
    }
  }
}
