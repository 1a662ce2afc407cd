/*@winnow
{
  "scratch": { "columns": { "dtype": "bf16", "count": "experts * n * k" } },
  "launches": [
    { "kernel": "transpose", "grid": ["ceil_div(n, 128)", "k", "experts"], "block": [128],
      "args": ["w", "columns", "n", "k"] },
    { "kernel": "reference", "grid": ["ceil_div(n, 128)", "tokens * topk"], "block": [128],
      "args": ["x", "columns", "expert", "y", "y_magnitude", "topk", "n", "k"] }
  ]
}
@*/
#include <cuda_bf16.h>

// So that neighbouring threads of reference() read neighbouring elements.
extern "C" __global__ void transpose(const __nv_bfloat16* w, __nv_bfloat16* columns, long long n,
                                     long long k) {
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long p = blockIdx.y, expert = blockIdx.z;
  if (j < n) {
    columns[(expert * k + p) * n + j] = w[(expert * n + j) * k + p];
  }
}

extern "C" __global__ void reference(const __nv_bfloat16* x, const __nv_bfloat16* columns,
                                     const int* expert, double* y, double* magnitude,
                                     long long topk, long long n, long long k) {
  const long long slot = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < k; ++p) {
    const double product =
        NARROW(product, (double)(float)x[slot / topk * k + p] *
                            (double)(float)columns[(expert[slot] * k + p) * n + j]);
    block += product;
    size += fabs(product);
    if (p % 8 == 7 || p + 1 == k) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  y[slot * n + j] = sum;
  magnitude[slot * n + j] = size;
}
