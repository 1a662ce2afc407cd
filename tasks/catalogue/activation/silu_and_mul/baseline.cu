/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "vec": "cols % 8 == 0 ? 8 : 1" },
  "launches": [
    { "kernel": "silu_and_mul<{vec}>", "grid": ["ceil_div(rows * cols / vec, BLOCK)"],
      "block": ["BLOCK"], "args": ["x", "y", "rows * cols / vec", "cols / vec"] }
  ]
}
@*/
// One pack of 16 bytes a thread if the rows are aligned, else one element.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int VEC>
__global__ void silu_and_mul(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y,
                             long long packs, long long packs_a_row) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= packs) {
    return;
  }
  const Pack<VEC>* row =
      reinterpret_cast<const Pack<VEC>*>(x) + i / packs_a_row * 2 * packs_a_row + i % packs_a_row;
  const Pack<VEC> gates = row[0], ups = row[packs_a_row];
  Pack<VEC> result;
  for (int p = 0; p < VEC; ++p) {
    const float gate = __bfloat162float(gates.lane[p]);
    result.lane[p] = __float2bfloat16(gate / (1.0f + expf(-gate)) * __bfloat162float(ups.lane[p]));
  }
  reinterpret_cast<Pack<VEC>*>(y)[i] = result;
}
