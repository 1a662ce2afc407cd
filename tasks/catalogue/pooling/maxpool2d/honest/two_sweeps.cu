/*@winnow
{
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2" },
  "scratch": { "across": { "dtype": "f32", "count": "planes * h * cols" } },
  "launches": [
    { "kernel": "along_rows", "grid": ["ceil_div(planes * h * cols, 128)"], "block": [128],
      "args": ["x", "across", "planes * h * cols", "cols", "w"] },
    { "kernel": "along_columns", "grid": ["ceil_div(planes * rows * cols, 128)"], "block": [128],
      "args": ["across", "y", "planes * rows * cols", "rows", "cols", "h"] }
  ]
}
@*/
// Maxima of three along the rows, then of three of these along the columns.
extern "C" __global__ void along_rows(const float* __restrict__ x, float* __restrict__ across,
                                      long long count, int cols, int w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    const int c = 2 * (int)(at % cols);
    const float* row = x + at / cols * w;
    float largest = row[c];
    largest = c > 0 ? fmaxf(largest, row[c - 1]) : largest;
    across[at] = c + 1 < w ? fmaxf(largest, row[c + 1]) : largest;
  }
}

extern "C" __global__ void along_columns(const float* __restrict__ across, float* __restrict__ y,
                                         long long count, int rows, int cols, int h) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    const int r = 2 * (int)(at / cols % rows);
    const float* plane = across + at / ((long long)rows * cols) * h * cols + at % cols;
    float largest = plane[(size_t)r * cols];
    largest = r > 0 ? fmaxf(largest, plane[(size_t)(r - 1) * cols]) : largest;
    y[at] = r + 1 < h ? fmaxf(largest, plane[(size_t)(r + 1) * cols]) : largest;
  }
}
