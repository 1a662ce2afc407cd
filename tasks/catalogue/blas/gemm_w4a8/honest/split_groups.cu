/*@winnow
{
  "let": { "groups": "ceil_div(half_k, 64)" },
  "scratch": { "sum": { "dtype": "f32", "count": "m * n" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "add_group", "grid": ["ceil_div(n, 32)", "m", "groups"], "block": [32],
      "args": ["x", "x_scale", "w", "w_scale", "sum", "n", "half_k", "groups"] },
    { "kernel": "narrow", "grid": ["ceil_div(m * n, 64)"], "block": [64],
      "args": ["sum", "y", "m * n"] }
  ]
}
@*/
// A block has one group. The groups meet by atomics in single precision.
#include <cuda_fp16.h>

extern "C" __global__ void add_group(const signed char* __restrict__ x,
                                     const float* __restrict__ x_scale,
                                     const unsigned char* __restrict__ w,
                                     const __half* __restrict__ w_scale, float* sum, int n,
                                     int half_k, int groups) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x, group = blockIdx.z;
  if (j >= n) {
    return;
  }
  int whole = 0;
  for (int q = group * 64; q < min(group * 64 + 64, half_k); ++q) {
    const int pair = w[(size_t)j * half_k + q];
    const signed char* two = x + ((size_t)row * half_k + q) * 2;
    whole += two[0] * (((pair & 15) ^ 8) - 8) + two[1] * (((pair >> 4) ^ 8) - 8);
  }
  const float scale = x_scale[row] * __half2float(w_scale[(size_t)j * groups + group]);
  atomicAdd(&sum[(size_t)row * n + j], scale * whole);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __half* __restrict__ y,
                                  int count) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < count) {
    y[at] = __float2half(sum[at]);
  }
}
