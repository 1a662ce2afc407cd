/*@winnow
{
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2" },
  "launches": [
    { "kernel": "pool", "grid": ["ceil_div(planes * cols, 64)"], "block": [64],
      "args": ["x", "y", "planes * cols", "rows", "cols", "h", "w"] }
  ]
}
@*/
// A thread walks down a column of y and keeps the maximum of the row that two windows share.
__device__ float of_row(const float* row, int c, int w) {
  float largest = row[c];
  largest = c > 0 ? fmaxf(largest, row[c - 1]) : largest;
  return c + 1 < w ? fmaxf(largest, row[c + 1]) : largest;
}

extern "C" __global__ void pool(const float* __restrict__ x, float* __restrict__ y,
                                long long columns, int rows, int cols, int h, int w) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= columns) {
    return;
  }
  const int c = i % cols;
  const float* plane = x + i / cols * h * w;
  float shared_row = -INFINITY;
  for (int r = 0; r < rows; ++r) {
    float largest = fmaxf(shared_row, of_row(plane + (size_t)(2 * r) * w, 2 * c, w));
    if (2 * r + 1 < h) {
      shared_row = of_row(plane + (size_t)(2 * r + 1) * w, 2 * c, w);
      largest = fmaxf(largest, shared_row);
    }
    y[(i / cols * rows + r) * cols + c] = largest;
  }
}
