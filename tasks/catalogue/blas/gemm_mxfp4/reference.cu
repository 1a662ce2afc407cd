/*@winnow
{
  "launches": [
    { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
      "args": ["x", "w", "scale", "y", "y_magnitude", "n", "blocks"] }
  ]
}
@*/
#include <cuda_bf16.h>

// The 4-bit float in the low four bits.
__device__ double e2m1(int bits) {
  const int exponent = bits >> 1 & 3, mantissa = bits & 1;
  const int quarters = exponent == 0 ? 2 * mantissa : (2 + mantissa) << exponent;
  return ((bits & 8) != 0 ? -quarters : quarters) / 4.0;
}

extern "C" __global__ void gemm_reference(const __nv_bfloat16* x, const unsigned char* w,
                                          const unsigned char* scale, double* y, double* magnitude,
                                          long long n, long long blocks) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  const __nv_bfloat16* factors = x + row * 32 * blocks;
  double sum = 0, size = 0;
  for (long long b = 0; b < blocks; ++b) {
    const double power = ldexp(1.0, scale[column * blocks + b] - 127);
    double block = 0, block_size = 0;
    // Eight codes in each, the lowest bits first.
    const unsigned* codes = (const unsigned*)(w + (column * blocks + b) * 16);
    for (int e = 0; e < 4; ++e) {
      const unsigned eight = codes[e];
      for (int p = 0; p < 8; ++p) {
        const double product =
            NARROW(product, (double)(float)factors[32 * b + 8 * e + p] * e2m1(eight >> 4 * p));
        block += product;
        block_size += fabs(product);
      }
    }
    sum += NARROW(partial_sum, power * block); // a block that a kernel adds up first
    size += power * block_size;
  }
  y[row * n + column] = sum;
  magnitude[row * n + column] = size;
}
