/*@winnow
{
  "scratch": { "wide": { "dtype": "f32", "count": "images * channels * h * out_w" } },
  "launches": [
    { "kernel": "columns", "grid": ["ceil_div(images * channels * h * out_w, 128)"],
      "block": [128],
      "args": ["x", "wide", "images * channels * h * out_w", "w", "out_w"] },
    { "kernel": "rows", "grid": ["ceil_div(images * channels * out_h * out_w, 128)"],
      "block": [128],
      "args": ["wide", "y", "images * channels * out_h * out_w", "h", "out_h", "out_w"] }
  ]
}
@*/
// The columns of all rows of x first, in single precision; then the rows.
#include <cuda_bf16.h>

__device__ float coordinate(int out, int size, int out_size) {
  return fmaxf(0.0f, (out + 0.5f) * ((float)size / out_size) - 0.5f);
}

extern "C" __global__ void columns(const __nv_bfloat16* __restrict__ x, float* __restrict__ wide,
                                   long long count, int w, int out_w) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  if (at >= count) {
    return;
  }
  const float u = coordinate(at % out_w, w, out_w);
  const int left = min((int)u, w - 1), right = min(left + 1, w - 1);
  const __nv_bfloat16* row = x + at / out_w * w;
  wide[at] =
      __bfloat162float(row[left]) * (left + 1 - u) + __bfloat162float(row[right]) * (u - left);
}

extern "C" __global__ void rows(const float* __restrict__ wide, __nv_bfloat16* __restrict__ y,
                                long long count, int h, int out_h, int out_w) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  if (at >= count) {
    return;
  }
  const float v = coordinate(at / out_w % out_h, h, out_h);
  const int top = min((int)v, h - 1), bottom = min(top + 1, h - 1);
  const float* plane = wide + at / ((long long)out_w * out_h) * h * out_w + at % out_w;
  y[at] = __float2bfloat16(plane[(size_t)top * out_w] * (top + 1 - v) +
                           plane[(size_t)bottom * out_w] * (v - top));
}
