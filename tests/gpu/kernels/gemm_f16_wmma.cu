/*@winnow
{
  "launches": [
    { "kernel": "gemm_wmma", "grid": ["ceil_div(n, 64)", "ceil_div(m, 64)"], "block": [128],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// Tensor cores by nvcuda::wmma: four warps a block, 2 x 2 fragments of 16 x 16 each.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(128)
    gemm_wmma(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ alignas(32) __half a_tile[64][24]; // 16 columns; rows stay multiples of 16 bytes
  __shared__ alignas(32) __half b_tile[16][72];
  __shared__ alignas(32) float c_tile[64][68];
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  const int warp_row = threadIdx.x / 64 * 32, warp_column = threadIdx.x / 32 % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
  for (int down = 0; down < 2; ++down) {
    for (int across = 0; across < 2; ++across) {
      wmma::fill_fragment(sums[down][across], 0.0f);
    }
  }
  for (int start = 0; start < k; start += 16) {
    for (int i = threadIdx.x; i < 64 * 16; i += 128) {
      const int row = first_row + i / 16, inner = start + i % 16;
      a_tile[i / 16][i % 16] = row < m && inner < k ? a[(size_t)row * k + inner] : __half(0.0f);
    }
    for (int i = threadIdx.x; i < 16 * 64; i += 128) {
      const int inner = start + i / 64, column = first_column + i % 64;
      b_tile[i / 64][i % 64] =
          inner < k && column < n ? b[(size_t)inner * n + column] : __half(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right[2];
    for (int part = 0; part < 2; ++part) {
      wmma::load_matrix_sync(left[part], &a_tile[warp_row + part * 16][0], 24);
      wmma::load_matrix_sync(right[part], &b_tile[0][warp_column + part * 16], 72);
    }
    for (int down = 0; down < 2; ++down) {
      for (int across = 0; across < 2; ++across) {
        wmma::mma_sync(sums[down][across], left[down], right[across], sums[down][across]);
      }
    }
    __syncthreads();
  }
  for (int down = 0; down < 2; ++down) {
    for (int across = 0; across < 2; ++across) {
      wmma::store_matrix_sync(&c_tile[warp_row + down * 16][warp_column + across * 16],
                              sums[down][across], 68, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 64 * 64; i += 128) {
    const int row = first_row + i / 64, column = first_column + i % 64;
    if (row < m && column < n) {
      c[(size_t)row * n + column] = __float2half(c_tile[i / 64][i % 64]);
    }
  }
}
