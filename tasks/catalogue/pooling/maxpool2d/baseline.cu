/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2" },
  "launches": [
    { "kernel": "pool", "grid": ["ceil_div(planes * rows * cols, BLOCK)"], "block": ["BLOCK"],
      "args": ["x", "y", "planes * rows * cols", "rows", "cols", "h", "w"] }
  ]
}
@*/
// One element a thread; caches serve the overlap. Places outside repeat the middle of the window.
extern "C" __global__ void pool(const float* __restrict__ x, float* __restrict__ y, long long count,
                                int rows, int cols, int h, int w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int column = at % cols, row = at / cols % rows;
  const float* plane = x + at / ((long long)rows * cols) * h * w;
  const int left = max(2 * column - 1, 0), right = min(2 * column + 1, w - 1);
  float largest = -INFINITY;
#pragma unroll
  for (int a = -1; a <= 1; ++a) {
    const float* line = plane + (size_t)min(max(2 * row + a, 0), h - 1) * w;
    largest = fmaxf(largest, fmaxf(line[left], fmaxf(line[2 * column], line[right])));
  }
  y[at] = largest;
}
