/*@winnow
{
  "let": { "slots": "tokens * topk", "tiles": "min(slots, slots / 16 + experts)" },
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "tiles"], "block": [32],
      "args": ["x", "w", "scale", "offsets", "y", "experts", "n", "blocks"] }
  ]
}
@*/
// A warp has 16 rows of an expert and 16 columns in the tensor cores. Scaled weights are exact in
// bfloat16; a block of 32 of them at a time goes through shared memory, padded with zeros.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

__device__ float e2m1(int bits, int power) {
  const int exponent = bits >> 1 & 3, mantissa = bits & 1;
  const float size = ldexpf(exponent == 0 ? mantissa : 2 + mantissa, max(exponent, 1) - 2 + power);
  return (bits & 8) != 0 ? -size : size;
}

extern "C" __global__ void gemm(const __nv_bfloat16* __restrict__ x,
                                const unsigned char* __restrict__ w,
                                const unsigned char* __restrict__ scale,
                                const int* __restrict__ offsets, __nv_bfloat16* __restrict__ y,
                                int experts, int n, int blocks) {
  __shared__ alignas(32) __nv_bfloat16 x_tile[16 * 32];
  __shared__ alignas(32) __nv_bfloat16 w_tile[16 * 32];
  __shared__ alignas(32) float sums[16 * 16];
  int expert = 0, top = 16 * blockIdx.y; // rows of the experts, each padded to whole tiles
  while (expert < experts && top >= (offsets[expert + 1] - offsets[expert] + 15) / 16 * 16) {
    top -= (offsets[expert + 1] - offsets[expert] + 15) / 16 * 16;
    ++expert;
  }
  if (expert == experts) {
    return;
  }
  const int first = offsets[expert] + top, rows = min(16, offsets[expert + 1] - first);
  const int left = blockIdx.x * 16, lane = threadIdx.x;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> c;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 16; ++i) {
      const size_t at = ((size_t)expert * n + left + i) * blocks + b;
      x_tile[i * 32 + lane] =
          i < rows ? x[((size_t)(first + i) * blocks + b) * 32 + lane] : __float2bfloat16(0.0f);
      w_tile[i * 32 + lane] = __float2bfloat16(
          left + i < n ? e2m1(w[at * 16 + lane / 2] >> 4 * (lane % 2), scale[at] - 127) : 0.0f);
    }
    __syncwarp();
    for (int p = 0; p < 32; p += 16) {
      wmma::load_matrix_sync(a, x_tile + p, 32);
      wmma::load_matrix_sync(c, w_tile + p, 32);
      wmma::mma_sync(sum, a, c, sum);
    }
    __syncwarp();
  }
  wmma::store_matrix_sync(sums, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 16 * rows; i += 32) {
    if (left + i % 16 < n) {
      y[(size_t)(first + i / 16) * n + left + i % 16] = __float2bfloat16(sums[i]);
    }
  }
}
