/*@winnow
{
  "launches": [
    { "kernel": "transpose", "grid": ["ceil_div(rows, 4)", "ceil_div(cols, 32)"], "block": [32],
      "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// A warp turns 4 x 32 elements in registers: each lane writes one column of four elements.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows,
                                     int cols) {
  const int top = blockIdx.x * 4, column = blockIdx.y * 32 + threadIdx.x;
  float four[4];
  for (int i = 0; i < 4; ++i) {
    four[i] = top + i < rows && column < cols ? x[(size_t)(top + i) * cols + column] : 0.0f;
  }
  // In step s, lane l writes row l % 4 of column l / 4 + 8 s of the tile.
  for (int step = 0; step < 4; ++step) {
    const int from = threadIdx.x / 4 + 8 * step;
    float value = 0.0f;
    for (int i = 0; i < 4; ++i) {
      const float other = __shfl_sync(0xffffffff, four[i], from);
      value = threadIdx.x % 4 == i ? other : value;
    }
    const int row = top + threadIdx.x % 4, target = blockIdx.y * 32 + from;
    if (row < rows && target < cols) {
      y[(size_t)target * rows + row] = value;
    }
  }
}
