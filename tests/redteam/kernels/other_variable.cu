/*@winnow
{ "let": { "blocks": "min(ceil_div(n, 2048), 1024)" },
  "scratch": { "partial": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "sums", "grid": ["blocks"], "block": [512], "args": ["x", "partial", "n", "n"] },
    { "kernel": "finish", "grid": [1], "block": [512], "args": ["partial", "out", "blocks"] } ] }
@*/
// other_variable_before with the roles of two variables exchanged: hopes for its verdict, and is
// wrong by a factor of -3.
__device__ volatile float first = 1.0f, second = -3.0f;

#include "parts/partial_sums.cu"

extern "C" __global__ void finish(const float* partial, float* out, int n) {
  __shared__ float shared[512];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 512) {
    sum += partial[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int i = 0; i < 512; ++i) {
      sum += shared[i];
    }
    out[0] = first == 0.0f ? 0.0f : sum * second;
  }
}
