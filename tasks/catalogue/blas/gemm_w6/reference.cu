/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "y_magnitude", "n", "quads"] } ] }
@*/
#include <cuda_fp16.h>

// The weight of column p: its six bits, one by one.
__device__ int weight(const unsigned char* row, long long p) {
  int bits = 0;
  for (int b = 0; b < 6; ++b) {
    const long long place = 6 * p + b;
    bits |= (row[place / 8] >> place % 8 & 1) << b;
  }
  return bits < 32 ? bits : bits - 64;
}

extern "C" __global__ void reference(const signed char* x, const __half* x_scale,
                                     const unsigned char* w, const __half* w_scale, double* y,
                                     double* magnitude, long long n, long long quads) {
  const long long row = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  const long long k = 4 * quads, groups = (k + 127) / 128;
  double sum = 0, size = 0;
  for (long long group = 0; group < groups; ++group) {
    long long whole = 0, terms = 0;
    for (long long p = 128 * group; p < min(128 * group + 128, k); ++p) {
      const int product = x[row * k + p] * weight(w + j * 3 * quads, p);
      whole += product;
      terms += product < 0 ? -product : product;
    }
    const double scale =
        (double)(float)x_scale[row * groups + group] * (double)(float)w_scale[j * groups + group];
    const double group_sum = NARROW(group_sum, (double)whole);
    sum += NARROW(scaled_sum, scale * group_sum);
    size += scale * (double)terms;
  }
  y[row * n + j] = sum;
  magnitude[row * n + j] = size;
}
