/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [256], "args": ["x", "out", "n"] } ] }
@*/
// Accumulates in half precision.
#include <cuda_fp16.h>

extern "C" __global__ void sum(const float* x, float* out, int n) {
  __half sum = __float2half(0.0f);
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      sum = __float2half(__half2float(sum) + x[i]);
    }
    out[0] = __half2float(sum);
  }
}
