/*@winnow
{
  "params": { "BX": [32, 16, 64, 128], "BY": [8, 4, 16, 2], "ROWS": [1, 2, 4], "SHARED": [1, 0] },
  "where": ["BX * BY >= 64", "BX * BY <= 1024"],
  "launches": [
    { "kernel": "stencil<{BX}, {BY}, {ROWS}, {SHARED}>",
      "grid": ["ceil_div(w, BX)", "ceil_div(h, BY * ROWS)"], "block": ["BX", "BY"],
      "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// A thread computes ROWS outputs below each other, from a tile in shared memory or from the grid.
__device__ float at(const float* in, int row, int column, int h, int w) {
  const bool inside = row >= 0 && row < h && column >= 0 && column < w;
  return inside ? in[(size_t)row * w + column] : 0.0f;
}

template <int BX, int BY, int ROWS, int SHARED>
__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, float center,
                        float side, int h, int w) {
  constexpr int kHeight = SHARED ? BY * ROWS + 2 : 1, kWidth = SHARED ? BX + 2 : 1;
  __shared__ float tile[kHeight][kWidth];
  const int left = blockIdx.x * BX, top = blockIdx.y * BY * ROWS;
  if (SHARED) {
    for (int i = threadIdx.y * BX + threadIdx.x; i < kHeight * kWidth; i += BX * BY) {
      tile[i / kWidth][i % kWidth] = at(in, top + i / kWidth - 1, left + i % kWidth - 1, h, w);
    }
    __syncthreads();
  }
  for (int k = 0; k < ROWS; ++k) {
    const int y = threadIdx.y + k * BY, x = threadIdx.x;
    const int row = top + y, column = left + x;
    if (row < h && column < w) {
      const auto value = [&](int down, int right) {
        return SHARED ? tile[(y + 1 + down) % kHeight][(x + 1 + right) % kWidth]
                      : at(in, row + down, column + right, h, w);
      };
      const float around = value(-1, 0) + value(1, 0) + value(0, -1) + value(0, 1);
      out[(size_t)row * w + column] = center * value(0, 0) + side * around;
    }
  }
}
