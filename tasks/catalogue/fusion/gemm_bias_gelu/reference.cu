/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
                  "args": ["x", "w", "bias", "y", "y_magnitude", "n", "k"] } ] }
@*/
#include <cuda_fp16.h>

extern "C" __global__ void reference(const __half* x, const __half* w, const __half* bias,
                                     double* y, double* magnitude, long long n, long long k) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  double sum = (float)bias[column], block = 0, size = fabs(sum);
  for (long long p = 0; p < k; ++p) {
    const double product =
        NARROW(product, (double)(float)x[row * k + p] * (double)(float)w[p * n + column]);
    block += product;
    size += fabs(product);
    if (p % 32 == 31 || p + 1 == k) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  y[row * n + column] = sum * (1 + erf(sum / sqrt(2.0))) / 2;
  magnitude[row * n + column] = size;
}
