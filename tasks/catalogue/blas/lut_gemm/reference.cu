/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
                  "args": ["x", "w", "table", "y", "y_magnitude", "n", "half_k"] } ] }
@*/
#include <cuda_fp16.h>

extern "C" __global__ void reference(const __half* x, const unsigned char* w, const __half* table,
                                     double* y, double* magnitude, long long n, long long half_k) {
  const long long row = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long p = 0; p < 2 * half_k; ++p) {
    const int pair = w[j * half_k + p / 2];
    const int code = p % 2 == 0 ? pair & 15 : pair >> 4;
    const double product = NARROW(product, (double)(float)x[row * 2 * half_k + p] *
                                               (double)(float)table[j * 16 + code]);
    block += product;
    size += fabs(product);
    if (p % 32 == 31 || p + 1 == 2 * half_k) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  y[row * n + j] = sum;
  magnitude[row * n + j] = size;
}
