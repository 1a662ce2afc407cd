/*@winnow
{
  "params": { "BLOCK": [256, 128], "ROWS": [4, 1, 8] },
  "let": { "across": "ceil_div(out_w, BLOCK)", "down": "ceil_div(out_h, ROWS)" },
  "launches": [
    { "kernel": "resize<{BLOCK}, {ROWS}>", "grid": ["across * down * images * channels"],
      "block": ["BLOCK"],
      "args": ["x", "y", "h", "w", "out_h", "out_w", "across", "down",
               {"float": "h / out_h"}, {"float": "w / out_w"}] }
  ]
}
@*/
// A thread has a column of some rows: the coordinate of the column is computed once for all rows.
#include <cuda_bf16.h>

template <int BLOCK, int ROWS>
__global__ void resize(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int h,
                       int w, int out_h, int out_w, int across, int down, float row_step,
                       float column_step) {
  const int column = blockIdx.x % across * BLOCK + threadIdx.x;
  if (column >= out_w) {
    return;
  }
  const size_t plane = blockIdx.x / across / down;
  const __nv_bfloat16* in = x + plane * h * w;
  __nv_bfloat16* out = y + plane * out_h * out_w;
  const float u = fmaxf(0.0f, (column + 0.5f) * column_step - 0.5f);
  const int left = min((int)u, w - 1), right = min(left + 1, w - 1);
  const float right_weight = u - left, left_weight = 1.0f - right_weight;
  const int first = blockIdx.x / across % down * ROWS;
#pragma unroll
  for (int r = first; r < first + ROWS; ++r) {
    if (r < out_h) {
      const float v = fmaxf(0.0f, (r + 0.5f) * row_step - 0.5f);
      const int top = min((int)v, h - 1), bottom = min(top + 1, h - 1);
      const float bottom_weight = v - top;
      const __nv_bfloat16* upper = in + (size_t)top * w;
      const __nv_bfloat16* lower = in + (size_t)bottom * w;
      const float above = left_weight * __bfloat162float(upper[left]) +
                          right_weight * __bfloat162float(upper[right]);
      const float below = left_weight * __bfloat162float(lower[left]) +
                          right_weight * __bfloat162float(lower[right]);
      out[(size_t)r * out_w + column] =
          __float2bfloat16((1.0f - bottom_weight) * above + bottom_weight * below);
    }
  }
}
