/*@winnow
{
  "launches": [
    { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
      "args": ["x", "w", "scale", "y", "y_magnitude", "n", "half_k"] }
  ]
}
@*/
#include <cuda_bf16.h>

// A weight from the low four bits.
__device__ int nibble(int bits) {
  return ((bits & 15) ^ 8) - 8;
}

extern "C" __global__ void gemm_reference(const __nv_bfloat16* x, const unsigned char* w,
                                          const float* scale, double* y, double* magnitude,
                                          long long n, long long half_k) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column < n) {
    double sum = 0, block = 0, size = 0;
    for (long long q = 0; q < half_k; ++q) {
      const int pair = w[column * half_k + q];
      const double first =
          NARROW(product, (double)(float)x[row * 2 * half_k + 2 * q] * nibble(pair));
      const double second =
          NARROW(product, (double)(float)x[row * 2 * half_k + 2 * q + 1] * nibble(pair >> 4));
      block += first + second;
      size += fabs(first) + fabs(second);
      if (q % 16 == 15 || q + 1 == half_k) { // a block that a kernel adds up first
        sum += NARROW(partial_sum, block);
        block = 0;
      }
    }
    y[row * n + column] = scale[column] * sum;
    magnitude[row * n + column] = scale[column] * size;
  }
}
