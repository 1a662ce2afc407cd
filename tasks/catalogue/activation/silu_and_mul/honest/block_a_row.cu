/*@winnow
{ "launches": [ { "kernel": "silu_and_mul", "grid": ["rows"], "block": [128],
                  "args": ["x", "y", "rows", "cols"] } ] }
@*/
// One block a row; the sigmoid by __expf, and the product of the halves first.
#include <cuda_bf16.h>

extern "C" __global__ void silu_and_mul(const __nv_bfloat16* __restrict__ x,
                                        __nv_bfloat16* __restrict__ y, int rows, int cols) {
  const __nv_bfloat16* gates = x + (size_t)blockIdx.x * 2 * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float gate = __bfloat162float(gates[c]);
    const float product = gate * __bfloat162float(gates[cols + c]);
    y[(size_t)blockIdx.x * cols + c] = __float2bfloat16(__fdividef(product, 1.0f + __expf(-gate)));
  }
}
