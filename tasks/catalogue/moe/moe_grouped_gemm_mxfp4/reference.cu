/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "tokens * topk"],
                  "block": [128],
                  "args": ["x", "w", "scale", "offsets", "y", "y_magnitude", "n", "blocks"] } ] }
@*/
#include <cuda_bf16.h>

// The 4-bit float in the low four bits.
__device__ double e2m1(int bits) {
  const int exponent = bits >> 1 & 3, mantissa = bits & 1;
  const int quarters = exponent == 0 ? 2 * mantissa : (2 + mantissa) << exponent;
  return ((bits & 8) != 0 ? -quarters : quarters) / 4.0;
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
    const unsigned* codes = (const unsigned*)(w + at * 16); // eight in each, the lowest bits first
    for (int e = 0; e < 4; ++e) {
      double part = 0;
      const unsigned eight = codes[e];
      for (int p = 0; p < 8; ++p) {
        const double factor = (double)(float)x[(slot * blocks + b) * 32 + 8 * e + p];
        const double product = NARROW(product, factor * e2m1(eight >> 4 * p));
        part += product;
        size += power * fabs(product);
      }
      sum += NARROW(partial_sum, power * part); // a part that a kernel adds up first
    }
  }
  y[slot * n + j] = sum;
  magnitude[slot * n + j] = size;
}
