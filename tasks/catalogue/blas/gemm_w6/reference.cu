/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "y_magnitude", "n", "quads"] } ] }
@*/
#include <cuda_fp16.h>

// The weight in six bits of the number that three bytes are, the first byte lowest.
__device__ int weight(int three, int place) {
  const int bits = three / (1 << 6 * place) % 64;
  return bits < 32 ? bits : bits - 64;
}

extern "C" __global__ void reference(const signed char* x, const __half* x_scale,
                                     const unsigned char* w, const __half* w_scale, double* y,
                                     double* magnitude, long long n, long long quads) {
  const long long row = blockIdx.y, j = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (j >= n) {
    return;
  }
  const long long groups = (quads + 31) / 32;
  double sum = 0, size = 0;
  for (long long group = 0; group < groups; ++group) {
    long long whole = 0, terms = 0;
    for (long long q = 32 * group; q < min(32 * group + 32, quads); ++q) {
      const unsigned char* bytes = w + 3 * (j * quads + q);
      const int three = bytes[0] + 256 * bytes[1] + 65536 * bytes[2];
      for (int place = 0; place < 4; ++place) {
        const int product = x[row * 4 * quads + 4 * q + place] * weight(three, place);
        whole += product;
        terms += product < 0 ? -product : product;
      }
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
