/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["n", "m"], "block": [32],
                  "args": ["x", "w", "y", "y_magnitude", "n", "k"] } ] }
@*/
// A warp for each element. A lane adds up every 32nd block of 32 terms.
#include <cuda_fp16.h>

extern "C" __global__ void reference(const __half* x, const __half* w, double* y, double* magnitude,
                                     long long n, long long k) {
  const long long i = blockIdx.y, j = blockIdx.x;
  double sum = 0, size = 0;
  for (long long first = threadIdx.x * 32LL; first < k; first += 32 * 32) {
    double block = 0;
    for (long long p = first; p < min(first + 32, k); ++p) {
      const double product =
          NARROW(product, (double)(float)x[i * k + p] * (double)(float)w[j * k + p]);
      block += product;
      size += fabs(product);
    }
    sum += NARROW(partial_sum, block); // a kernel adds a block up first
  }
  __shared__ double sums[32], sizes[32];
  sums[threadIdx.x] = sum;
  sizes[threadIdx.x] = size;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int lane = 1; lane < 32; ++lane) {
      sum += sums[lane];
      size += sizes[lane];
    }
    y[i * n + j] = sum;
    magnitude[i * n + j] = size;
  }
}
