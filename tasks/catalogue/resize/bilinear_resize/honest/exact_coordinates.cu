/*@winnow
{ "launches": [ { "kernel": "resize",
                  "grid": ["ceil_div(images * channels * out_h * out_w, 128)"], "block": [128],
                  "args": ["x", "y", "images * channels * out_h * out_w", "h", "w", "out_h",
                           "out_w"] } ] }
@*/
// One element a thread. Coordinates are quotients of integers: only their fractions are rounded.
#include <cuda_bf16.h>

struct Place {
  int low, high;
  float weight; // of high
};

__device__ Place place(int out, int size, int out_size) {
  const long long half_pixels = (2LL * out + 1) * size - out_size; // times 2 * out_size
  if (half_pixels <= 0) {
    return {0, 0, 0.0f};
  }
  const int low = (int)(half_pixels / (2LL * out_size));
  const float rest = (float)(half_pixels % (2LL * out_size));
  return {low, min(low + 1, size - 1), rest / (2.0f * out_size)};
}

extern "C" __global__ void resize(const __nv_bfloat16* __restrict__ x,
                                  __nv_bfloat16* __restrict__ y, long long count, int h, int w,
                                  int out_h, int out_w) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  if (at >= count) {
    return;
  }
  const Place column = place(at % out_w, w, out_w), row = place(at / out_w % out_h, h, out_h);
  const __nv_bfloat16* plane = x + at / ((long long)out_w * out_h) * h * w;
  const float a = __bfloat162float(plane[(size_t)row.low * w + column.low]);
  const float b = __bfloat162float(plane[(size_t)row.low * w + column.high]);
  const float c = __bfloat162float(plane[(size_t)row.high * w + column.low]);
  const float d = __bfloat162float(plane[(size_t)row.high * w + column.high]);
  const float upper = fmaf(column.weight, b - a, a), lower = fmaf(column.weight, d - c, c);
  y[at] = __float2bfloat16(fmaf(row.weight, lower - upper, upper));
}
