/*@winnow
{ "launches": [ { "kernel": "resize_reference",
                  "grid": ["ceil_div(images * channels * out_h * out_w, 64)"], "block": [64],
                  "args": ["x", "y", "y_magnitude", "images * channels * out_h * out_w", "h", "w",
                           "out_h", "out_w"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void resize_reference(const __nv_bfloat16* x, double* y, double* magnitude,
                                            long long count, long long h, long long w,
                                            long long out_h, long long out_w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long column = at % out_w, row = at / out_w % out_h;
  const __nv_bfloat16* plane = x + at / (out_w * out_h) * h * w;
  const double v = fmax(0.0, (row + 0.5) * h / out_h - 0.5);
  const double u = fmax(0.0, (column + 0.5) * w / out_w - 0.5);
  const long long i = (long long)v, j = (long long)u;
  double sum = 0, largest = 0;
  // The coordinate may be rounded across a pixel, so the size is that of all pixels around.
  for (long long r = max(i - 1, 0LL); r <= min(i + 2, h - 1); ++r) {
    for (long long c = max(j - 1, 0LL); c <= min(j + 2, w - 1); ++c) {
      const double value = (float)plane[r * w + c];
      largest = fmax(largest, fabs(value));
      const double row_weight = NARROW(weight, fmax(0.0, 1 - fabs(v - r)));
      const double column_weight = NARROW(weight, fmax(0.0, 1 - fabs(u - c)));
      sum += NARROW(term, value * row_weight * column_weight);
    }
  }
  // Beyond the last centre the last pixel stands in for the one that does not exist.
  const double row_rest = i + 1 == h ? v - i : 0, column_rest = j + 1 == w ? u - j : 0;
  sum /= (1 - row_rest) * (1 - column_rest);
  y[at] = sum;
  magnitude[at] = largest * (1 + v + u);
}
