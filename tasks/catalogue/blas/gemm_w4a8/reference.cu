/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "y_magnitude", "n", "half_k"] } ] }
@*/
#include <cuda_fp16.h>

extern "C" __global__ void reference(const signed char* x, const float* x_scale,
                                     const unsigned char* w, const __half* w_scale, double* y,
                                     double* magnitude, long long n, long long half_k) {
  const long long row = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  const long long groups = (half_k + 63) / 64;
  double sum = 0, size = 0;
  for (long long group = 0; group < groups; ++group) {
    long long whole = 0, terms = 0;
    for (long long p = 128 * group; p < min(128 * group + 128, 2 * half_k); ++p) {
      const int pair = w[j * half_k + p / 2];
      const int bits = p % 2 == 0 ? pair & 15 : pair >> 4;
      const int product = x[row * 2 * half_k + p] * (bits < 8 ? bits : bits - 16);
      whole += product;
      terms += product < 0 ? -product : product;
    }
    const double scale = (double)(float)w_scale[j * groups + group];
    const double group_sum = NARROW(group_sum, (double)whole);
    sum += NARROW(scaled_sum, scale * group_sum);
    size += scale * (double)terms;
  }
  y[row * n + j] = (double)x_scale[row] * sum;
  magnitude[row * n + j] = (double)x_scale[row] * size;
}
