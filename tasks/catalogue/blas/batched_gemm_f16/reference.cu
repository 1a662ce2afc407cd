/*@winnow
{ "launches": [ { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m", "batch"],
                  "block": [128],
                  "args": ["a", "b", "c", "c_magnitude", "alpha", "m", "n", "k"] } ] }
@*/
#include <cuda_fp16.h>

extern "C" __global__ void gemm_reference(const __half* a, const __half* b, double* c,
                                          double* magnitude, float alpha, long long m, long long n,
                                          long long k) {
  const long long z = blockIdx.z, row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < k; ++p) {
    const double product = NARROW(product, (double)(float)a[(z * m + row) * k + p] *
                                               (double)(float)b[(z * k + p) * n + column]);
    block += product;
    size += fabs(product);
    if (p % 8 == 7 || p + 1 == k) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  c[(z * m + row) * n + column] = alpha * sum;
  magnitude[(z * m + row) * n + column] = fabs(alpha * size);
}
