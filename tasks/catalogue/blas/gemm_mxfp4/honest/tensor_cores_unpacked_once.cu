/*@winnow
{
  "let": { "k": "32 * blocks", "rows": "align_up(m, 16)", "columns": "align_up(n, 16)" },
  "scratch": {
    "weights": { "dtype": "bf16", "count": "columns * k", "keep": true },
    "x_rows": { "dtype": "bf16", "count": "rows * k" },
    "sums": { "dtype": "f32", "count": "rows * columns" }
  },
  "prepare": [ { "kernel": "unpack", "grid": ["columns", "blocks"], "block": [32],
                 "args": ["w", "scale", "weights", "n", "blocks"] } ],
  "launches": [
    { "kernel": "pad", "grid": ["rows", "blocks"], "block": [32],
      "args": ["x", "x_rows", "m", "blocks"] },
    { "kernel": "gemm", "grid": ["columns / 16", "rows / 16"], "block": [32],
      "args": ["x_rows", "weights", "sums", "columns", "k"] },
    { "kernel": "narrow", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["sums", "y", "n", "columns"] }
  ]
}
@*/
// The weights are unpacked once, into bfloat16, which holds them exactly. A warp has 16 x 16 sums
// in the tensor cores; rows and columns are padded with zeros.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void unpack(const unsigned char* __restrict__ w,
                                  const unsigned char* __restrict__ scale,
                                  __nv_bfloat16* __restrict__ weights, int n, int blocks) {
  const size_t at = (size_t)blockIdx.x * blocks + blockIdx.y;
  const int p = threadIdx.x;
  float weight = 0.0f;
  if (blockIdx.x < n) {
    const int bits = w[at * 16 + p / 2] >> 4 * (p % 2);
    const int exponent = bits >> 1 & 3, mantissa = bits & 1;
    const float size =
        ldexpf(exponent == 0 ? mantissa : 2 + mantissa, max(exponent, 1) - 2 + scale[at] - 127);
    weight = (bits & 8) != 0 ? -size : size;
  }
  weights[at * 32 + p] = __float2bfloat16(weight);
}

extern "C" __global__ void pad(const __nv_bfloat16* __restrict__ x,
                               __nv_bfloat16* __restrict__ x_rows, int m, int blocks) {
  const size_t at = ((size_t)blockIdx.x * blocks + blockIdx.y) * 32 + threadIdx.x;
  x_rows[at] = blockIdx.x < m ? x[at] : __float2bfloat16(0.0f);
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const __nv_bfloat16* __restrict__ weights, float* __restrict__ sums,
                                int columns, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int p = 0; p < k; p += 16) {
    wmma::load_matrix_sync(left, x + (size_t)blockIdx.y * 16 * k + p, k);
    wmma::load_matrix_sync(right, weights + (size_t)blockIdx.x * 16 * k + p, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(sums + ((size_t)blockIdx.y * columns + blockIdx.x) * 16, sum, columns,
                          wmma::mem_row_major);
}

extern "C" __global__ void narrow(const float* __restrict__ sums, __nv_bfloat16* __restrict__ y,
                                  int n, int columns) {
  const int j = blockIdx.x * 64 + threadIdx.x;
  if (j < n) {
    y[(size_t)blockIdx.y * n + j] = __float2bfloat16(sums[(size_t)blockIdx.y * columns + j]);
  }
}
