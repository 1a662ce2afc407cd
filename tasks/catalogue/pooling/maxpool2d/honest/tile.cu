/*@winnow
{
  "let": { "rows": "(h + 1) / 2", "cols": "(w + 1) / 2", "across": "ceil_div(cols, 32)",
           "tiles": "across * ceil_div(rows, 4)" },
  "launches": [
    { "kernel": "pool", "grid": ["planes * tiles"], "block": [32, 4],
      "args": ["x", "y", "rows", "cols", "h", "w", "across", "tiles"] }
  ]
}
@*/
// A tile of 9 x 65 elements in shared memory, minus infinity outside the plane.
extern "C" __global__ void pool(const float* __restrict__ x, float* __restrict__ y, int rows,
                                int cols, int h, int w, int across, int tiles) {
  __shared__ float tile[9][65];
  const int plane = blockIdx.x / tiles, index = blockIdx.x % tiles;
  const int top = index / across * 4, left = index % across * 32;
  for (int t = threadIdx.y * 32 + threadIdx.x; t < 9 * 65; t += 128) {
    const int r = 2 * top + t / 65 - 1, c = 2 * left + t % 65 - 1;
    tile[t / 65][t % 65] =
        r >= 0 && r < h && c >= 0 && c < w ? x[((size_t)plane * h + r) * w + c] : -INFINITY;
  }
  __syncthreads();
  const int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row >= rows || column >= cols) {
    return;
  }
  float largest = -INFINITY;
  for (int i = 0; i < 9; ++i) {
    largest = fmaxf(largest, tile[2 * threadIdx.y + i / 3][2 * threadIdx.x + i % 3]);
  }
  y[((size_t)plane * rows + row) * cols + column] = largest;
}
