/*@winnow
{
  "params": { "BLOCK": [128, 256, 64], "ROWS": [4, 1, 8] },
  "let": { "vec": "cols % 8 == 0 ? 8 : 1" },
  "launches": [
    { "kernel": "bias_relu<{BLOCK}, {ROWS}, {vec}>",
      "grid": ["ceil_div(cols, BLOCK * vec) * ceil_div(rows, ROWS)"], "block": ["BLOCK"],
      "args": ["x", "bias", "y", "rows", "cols", "ceil_div(cols, BLOCK * vec)"] }
  ]
}
@*/
// 16 bytes a load if the rows are aligned; a thread keeps its part of the bias for some rows.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int BLOCK, int ROWS, int VEC>
__global__ void bias_relu(const __nv_bfloat16* __restrict__ x,
                          const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y,
                          int rows, int cols, int blocks_across) {
  const int c = (blockIdx.x % blocks_across * BLOCK + threadIdx.x) * VEC;
  if (c >= cols) {
    return;
  }
  const Pack<VEC> shift = *reinterpret_cast<const Pack<VEC>*>(bias + c);
  const int first = blockIdx.x / blocks_across * ROWS;
#pragma unroll
  for (int r = first; r < first + ROWS; ++r) {
    if (r < rows) {
      const size_t at = (size_t)r * cols + c;
      Pack<VEC> pack = *reinterpret_cast<const Pack<VEC>*>(x + at);
      for (int i = 0; i < VEC; ++i) {
        const float sum = __bfloat162float(pack.lane[i]) + __bfloat162float(shift.lane[i]);
        pack.lane[i] = __float2bfloat16(fmaxf(sum, 0.0f));
      }
      *reinterpret_cast<Pack<VEC>*>(y + at) = pack;
    }
  }
}
