/*@winnow
{
  "let": { "groups": "ceil_div(quads, 32)" },
  "scratch": { "sum": { "dtype": "f32", "count": "m * n" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "add_group", "grid": ["ceil_div(n, 32)", "m", "groups"], "block": [32],
      "args": ["x", "x_scale", "w", "w_scale", "sum", "n", "quads", "groups"] },
    { "kernel": "narrow", "grid": ["ceil_div(m * n, 64)"], "block": [64],
      "args": ["sum", "y", "m * n"] }
  ]
}
@*/
// A block has one group, and sums it exactly in single precision. The groups meet by atomics.
#include <cuda_fp16.h>

extern "C" __global__ void add_group(const signed char* __restrict__ x,
                                     const __half* __restrict__ x_scale,
                                     const unsigned char* __restrict__ w,
                                     const __half* __restrict__ w_scale, float* sum, int n,
                                     int quads, int groups) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, group = blockIdx.z;
  if (j >= n) {
    return;
  }
  float whole = 0.0f;
  for (int q = group * 32; q < min(group * 32 + 32, quads); ++q) {
    const unsigned char* three = w + ((size_t)j * quads + q) * 3;
    const int quad = three[0] | three[1] << 8 | three[2] << 16;
    const signed char* four = x + ((size_t)row * quads + q) * 4;
    for (int place = 0; place < 4; ++place) {
      whole += (float)four[place] * (((quad >> 6 * place & 63) ^ 32) - 32);
    }
  }
  const float scale = __half2float(x_scale[(size_t)row * groups + group]) *
                      __half2float(w_scale[(size_t)j * groups + group]);
  atomicAdd(&sum[(size_t)row * n + j], scale * whole);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __half* __restrict__ y,
                                  int count) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < count) {
    y[at] = __float2half(sum[at]);
  }
}
