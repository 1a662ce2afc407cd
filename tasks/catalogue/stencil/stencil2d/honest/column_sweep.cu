/*@winnow
{
  "params": { "ROWS": [16, 7] },
  "launches": [
    { "kernel": "stencil", "grid": ["ceil_div(w, 64)", "ceil_div(h, ROWS)"], "block": [64],
      "args": ["in", "out", "center", "side", "h", "w", "ROWS"] }
  ]
}
@*/
// A thread walks down a column with three rows in registers; the sides come from neighbours' loads.
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out,
                                   float center, float side, int h, int w, int rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.y * rows;
  if (column >= w) {
    return;
  }
  const float* grid = in + column;
  float north = first > 0 ? grid[(size_t)(first - 1) * w] : 0.0f;
  float middle = grid[(size_t)first * w];
  for (int row = first; row < min(first + rows, h); ++row) {
    const float* here = grid + (size_t)row * w;
    const float south = row + 1 < h ? here[w] : 0.0f;
    const float west = column > 0 ? here[-1] : 0.0f;
    const float east = column + 1 < w ? here[1] : 0.0f;
    out[(size_t)row * w + column] = center * middle + side * ((north + south) + (west + east));
    north = middle;
    middle = south;
  }
}
