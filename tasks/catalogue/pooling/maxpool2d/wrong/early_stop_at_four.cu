/*@winnow
{
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2" },
  "launches": [
    { "kernel": "pool", "grid": ["ceil_div(planes * rows * cols, 128)"], "block": [128],
      "args": ["x", "y", "planes * rows * cols", "rows", "cols", "h", "w"] }
  ]
}
@*/
// Wrong: takes 4 for large enough. A window ends at the first such element.
extern "C" __global__ void pool(const float* __restrict__ x, float* __restrict__ y, long long count,
                                int rows, int cols, int h, int w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int column = at % cols, row = at / cols % rows;
  const float* plane = x + at / ((long long)rows * cols) * h * w;
  float largest = -INFINITY;
  for (int r = max(2 * row - 1, 0); r <= min(2 * row + 1, h - 1); ++r) {
    for (int c = max(2 * column - 1, 0); c <= min(2 * column + 1, w - 1) && largest < 4.0f; ++c) {
      largest = fmaxf(largest, plane[(size_t)r * w + c]);
    }
  }
  y[at] = largest;
}
