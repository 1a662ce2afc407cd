/*@winnow
{ "launches": [ { "kernel": "gather", "grid": ["min(ceil_div(tokens, 4), 512)"], "block": [32, 4],
                  "args": ["table", "ids", "y", "tokens", "dim"] } ] }
@*/
// One warp a token in a grid-stride loop; lane 0 reads the id.
#include <cuda_bf16.h>

extern "C" __global__ void gather(const __nv_bfloat16* __restrict__ table,
                                  const int* __restrict__ ids, __nv_bfloat16* __restrict__ y,
                                  int tokens, int dim) {
  for (int token = blockIdx.x * 4 + threadIdx.y; token < tokens; token += gridDim.x * 4) {
    const int id = __shfl_sync(0xffffffff, threadIdx.x == 0 ? ids[token] : 0, 0);
    for (int c = threadIdx.x; c < dim; c += 32) {
      y[(size_t)token * dim + c] = table[(size_t)id * dim + c];
    }
  }
}
