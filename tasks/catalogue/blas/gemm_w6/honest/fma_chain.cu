/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
                  "args": ["x", "x_scale", "w", "w_scale", "y", "n", "quads"] } ] }
@*/
// One thread an output. Both factors are scaled in single precision before they are multiplied.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const signed char* __restrict__ x,
                                const __half* __restrict__ x_scale,
                                const unsigned char* __restrict__ w,
                                const __half* __restrict__ w_scale, __half* __restrict__ y, int n,
                                int quads) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, groups = (quads + 31) / 32;
  if (j >= n) {
    return;
  }
  float sum = 0.0f;
  for (int q = 0; q < quads; ++q) {
    const float left = __half2float(x_scale[(size_t)row * groups + q / 32]);
    const float right = __half2float(w_scale[(size_t)j * groups + q / 32]);
    const unsigned char* three = w + ((size_t)j * quads + q) * 3;
    const int quad = three[0] | three[1] << 8 | three[2] << 16;
    const signed char* four = x + ((size_t)row * quads + q) * 4;
    for (int place = 0; place < 4; ++place) {
      const int weight = ((quad >> 6 * place & 63) ^ 32) - 32;
      sum = fmaf(left * four[place], right * weight, sum);
    }
  }
  y[(size_t)row * n + j] = __float2half(sum);
}
