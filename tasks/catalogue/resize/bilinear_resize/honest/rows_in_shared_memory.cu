/*@winnow
{
  "let": { "strips": "ceil_div(out_w, 128)" },
  "launches": [ { "kernel": "resize", "grid": ["out_h * strips", "min(images * channels, 65535)"],
                  "block": [64],
                  "args": ["x", "y", "images * channels", "h", "w", "out_h", "out_w",
                           "strips"] } ] }
@*/
// A block blends the two rows of a strip in shared memory, and then reads columns from there.
// A strip of 128 outputs needs at most 258 columns, because no shape shrinks by more than 2.
#include <cuda_bf16.h>

// With an explicit fmaf every call gives the same bits.
__device__ float coordinate(int out, float step) {
  return fmaxf(0.0f, fmaf(out + 0.5f, step, -0.5f));
}

extern "C" __global__ void resize(const __nv_bfloat16* __restrict__ x,
                                  __nv_bfloat16* __restrict__ y, int planes, int h, int w,
                                  int out_h, int out_w, int strips) {
  __shared__ float blended[260];
  const int row = blockIdx.x / strips, left = blockIdx.x % strips * 128;
  const int right = min(left + 128, out_w);
  const float row_step = (float)h / out_h, column_step = (float)w / out_w;
  const float v = coordinate(row, row_step);
  const int top = min((int)v, h - 1), bottom = min(top + 1, h - 1);
  const int first = min((int)coordinate(left, column_step), w - 1);
  const int last = min((int)coordinate(right - 1, column_step) + 1, w - 1);
  for (int plane = blockIdx.y; plane < planes; plane += gridDim.y) {
    const __nv_bfloat16* in = x + (size_t)plane * h * w;
    for (int c = first + threadIdx.x; c <= last; c += 64) {
      const float upper = __bfloat162float(in[(size_t)top * w + c]);
      const float lower = __bfloat162float(in[(size_t)bottom * w + c]);
      blended[c - first] = upper + (lower - upper) * (v - top);
    }
    __syncthreads();
    for (int column = left + threadIdx.x; column < right; column += 64) {
      const float u = coordinate(column, column_step);
      const int low = min((int)u, w - 1), high = min(low + 1, w - 1);
      const float a = blended[low - first], b = blended[high - first];
      y[((size_t)plane * out_h + row) * out_w + column] = __float2bfloat16(a + (b - a) * (u - low));
    }
    __syncthreads();
  }
}
