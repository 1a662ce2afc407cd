/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "n", "quads"] } ] }
@*/
// Wrong: the scaled sums of the groups are added up in half precision.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const signed char* x, const __half* x_scale, const unsigned char* w,
                                const __half* w_scale, __half* y, int n, int quads) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, groups = (quads + 31) / 32;
  if (j >= n) {
    return;
  }
  __half sum = __float2half(0.0f);
  for (int group = 0; group < groups; ++group) {
    int whole = 0;
    for (int p = group * 128; p < min(group * 128 + 128, 4 * quads); ++p) {
      const unsigned char* three = w + ((size_t)j * quads + p / 4) * 3;
      const int quad = three[0] | three[1] << 8 | three[2] << 16;
      whole += x[(size_t)row * 4 * quads + p] * (((quad >> 6 * (p % 4) & 63) ^ 32) - 32);
    }
    const float scale = __half2float(x_scale[(size_t)row * groups + group]) *
                        __half2float(w_scale[(size_t)j * groups + group]);
    sum = __float2half(__half2float(sum) + __half2float(__float2half(scale * whole)));
  }
  y[(size_t)row * n + j] = sum;
}
