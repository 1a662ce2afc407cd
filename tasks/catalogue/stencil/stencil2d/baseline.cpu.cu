/*@winnow
{
  "params": { "ROWS": [16, 4, 64] },
  "launches": [
    { "kernel": "stencil<{ROWS}>", "grid": ["ceil_div(h, ROWS)"], "block": [1],
      "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// A block is one thread with a few rows, whose neighbours are still in the first cache.
__device__ float at(const float* in, int row, int column, int h, int w) {
  const bool inside = row >= 0 && row < h && column >= 0 && column < w;
  return inside ? in[row * w + column] : 0.0f;
}

template <int ROWS>
__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, float center,
                        float side, int h, int w) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, h); ++row) {
    for (int column = 0; column < w; ++column) {
      const float around = at(in, row - 1, column, h, w) + at(in, row + 1, column, h, w) +
                           at(in, row, column - 1, h, w) + at(in, row, column + 1, h, w);
      out[row * w + column] = center * in[row * w + column] + side * around;
    }
  }
}
