/*@winnow
{ "launches": [ { "kernel": "gather", "grid": ["ceil_div(dim, 64)", "ceil_div(tokens, 16)"],
                  "block": [64], "args": ["table", "ids", "y", "tokens", "dim"] } ] }
@*/
// A block copies 64 columns for 16 tokens, whose ids wait in shared memory.
#include <cuda_bf16.h>

extern "C" __global__ void gather(const __nv_bfloat16* __restrict__ table,
                                  const int* __restrict__ ids, __nv_bfloat16* __restrict__ y,
                                  int tokens, int dim) {
  __shared__ int rows[16];
  const int first = blockIdx.y * 16;
  const int count = min(16, tokens - first);
  if (threadIdx.x < count) {
    rows[threadIdx.x] = ids[first + threadIdx.x];
  }
  __syncthreads();
  const int c = blockIdx.x * 64 + threadIdx.x;
  for (int t = 0; t < count && c < dim; ++t) {
    y[(size_t)(first + t) * dim + c] = table[(size_t)rows[t] * dim + c];
  }
}
