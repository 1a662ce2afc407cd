/*@winnow
{
  "params": { "SIDE": [16, 8, 32] },
  "launches": [
    { "kernel": "transpose<{SIDE}>", "grid": ["ceil_div(rows, 4 * SIDE)", "ceil_div(cols, SIDE)"],
      "block": [1], "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with four square tiles. A tile is copied row by row into local memory, and
// leaves it row by row of y, so that both sides move whole cache lines.
template <int SIDE>
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int left = blockIdx.y * SIDE, columns = min(SIDE, cols - left);
  const int first = blockIdx.x * 4 * SIDE;
  for (int top = first; top < min(first + 4 * SIDE, rows); top += SIDE) {
    const int depth = min(SIDE, rows - top);
    float tile[SIDE][SIDE];
    for (int i = 0; i < depth; ++i) {
      for (int j = 0; j < columns; ++j) {
        tile[j][i] = x[(size_t)(top + i) * cols + left + j];
      }
    }
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < depth; ++i) {
        y[(size_t)(left + j) * rows + top + i] = tile[j][i];
      }
    }
  }
}
