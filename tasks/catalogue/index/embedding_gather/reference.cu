/*@winnow
{ "launches": [ { "kernel": "gather_reference", "grid": ["ceil_div(tokens * dim, 64)"],
                  "block": [64],
                  "args": ["table", "ids", "y", "y_magnitude", "tokens * dim", "dim"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void gather_reference(const __nv_bfloat16* table, const int* ids, double* y,
                                            double* magnitude, long long count, long long dim) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    y[i] = NARROW(value, (float)table[ids[i / dim] * dim + i % dim]);
    magnitude[i] = 0;
  }
}
