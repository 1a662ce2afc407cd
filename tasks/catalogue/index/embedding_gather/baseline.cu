/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "vec": "dim % 8 == 0 ? 8 : 1" },
  "launches": [
    { "kernel": "gather<{vec}>", "grid": ["ceil_div(tokens * dim / vec, BLOCK)"],
      "block": ["BLOCK"], "args": ["table", "ids", "y", "tokens * dim / vec", "dim / vec"] }
  ]
}
@*/
// One pack of 16 bytes a thread if the rows are aligned, else one element.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int VEC>
__global__ void gather(const __nv_bfloat16* __restrict__ table, const int* __restrict__ ids,
                       __nv_bfloat16* __restrict__ y, long long packs, int packs_a_row) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < packs) {
    const long long row = ids[i / packs_a_row];
    reinterpret_cast<Pack<VEC>*>(y)[i] =
        reinterpret_cast<const Pack<VEC>*>(table)[row * packs_a_row + i % packs_a_row];
  }
}
