/*@winnow
{
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2" },
  "launches": [
    { "kernel": "pool_reference", "grid": ["ceil_div(planes * rows * cols, 64)"], "block": [64],
      "args": ["x", "y", "y_magnitude", "planes * rows * cols", "rows", "cols", "h", "w"] }
  ]
}
@*/
extern "C" __global__ void pool_reference(const float* x, double* y, double* magnitude,
                                          long long count, long long rows, long long cols,
                                          long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long plane = at / (rows * cols), row = at / cols % rows, column = at % cols;
  double largest = -INFINITY;
  for (long long r = 2 * row - 1; r <= 2 * row + 1; ++r) {
    for (long long c = 2 * column - 1; c <= 2 * column + 1; ++c) {
      if (r >= 0 && r < h && c >= 0 && c < w) {
        largest = fmax(largest, (double)x[(plane * h + r) * w + c]);
      }
    }
  }
  y[at] = NARROW(maximum, largest);
  magnitude[at] = 0;
}
