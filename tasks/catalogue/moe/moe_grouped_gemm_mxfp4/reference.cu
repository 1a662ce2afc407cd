/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "tokens * topk"],
                  "block": [128],
                  "args": ["x", "w", "scale", "offsets", "y", "y_magnitude", "n", "blocks"] } ] }
@*/
#include <cuda_bf16.h>

// The 4-bit float in the low four bits.
__device__ double e2m1(int bits) {
  const int exponent = bits >> 1 & 3, mantissa = bits & 1;
  const double size = exponent == 0 ? 0.5 * mantissa : ldexp(1 + 0.5 * mantissa, exponent - 1);
  return (bits & 8) != 0 ? -size : size;
}

extern "C" __global__ void reference(const __nv_bfloat16* x, const unsigned char* w,
                                     const unsigned char* scale, const int* offsets, double* y,
                                     double* magnitude, long long n, long long blocks) {
  const long long slot = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  long long expert = 0;
  while (slot >= offsets[expert + 1]) {
    ++expert;
  }
  double sum = 0, size = 0;
  for (long long b = 0; b < blocks; ++b) {
    const long long at = (expert * n + j) * blocks + b;
    const double power = ldexp(1.0, scale[at] - 127);
    double part = 0;
    for (int p = 0; p < 32; ++p) {
      const double factor = (double)(float)x[(slot * blocks + b) * 32 + p];
      const double product = NARROW(product, factor * e2m1(w[at * 16 + p / 2] >> 4 * (p % 2)));
      part += product;
      size += power * fabs(product);
      if (p % 8 == 7) { // a part that a kernel adds up first
        sum += NARROW(partial_sum, power * part);
        part = 0;
      }
    }
  }
  y[slot * n + j] = sum;
  magnitude[slot * n + j] = size;
}
