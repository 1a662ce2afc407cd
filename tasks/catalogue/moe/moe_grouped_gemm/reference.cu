/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "tokens * topk"],
                  "block": [128],
                  "args": ["x", "w", "expert", "y", "y_magnitude", "topk", "n", "k"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void reference(const __nv_bfloat16* x, const __nv_bfloat16* w,
                                     const int* expert, double* y, double* magnitude,
                                     long long topk, long long n, long long k) {
  const long long slot = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < k; ++p) {
    const double product = NARROW(product, (double)(float)x[slot / topk * k + p] *
                                               (double)(float)w[(expert[slot] * n + j) * k + p]);
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
